//! The transportation problem by the network simplex method.
//!
//! Least Σ f_ij c_ij over f ≥ 0, where Σ_j f_ij is what lies at source i and Σ_i f_ij what fits into sink j (Hitchcock 1941;
//! Dantzig 1951). A basis is a spanning tree of sources and sinks, and only its arcs carry anything. It has prices with
//! u_i + v_j = c_ij on its arcs. An arc with c_ij < u_i + v_j enters the tree, as much as possible moves around the cycle that it
//! closes, and an arc that is then empty leaves.
//!
//! Masses and costs are whole numbers below 2⁵³ in all sums, so that prices and what moves are exact and the last tree is
//! optimal. Trees are strongly feasible (Cunningham, *A network simplex method*, 1976): arcs that carry nothing lead from a
//! source up to its parent, and of several arcs that become empty the last one along the cycle leaves. Then no tree comes twice.

use super::ground::Costs;
use crate::isa::compiled;

const NONE: u32 = u32::MAX;

/// Costs compared at a time.
const LANES: usize = 8;

/// A source or a sink in the tree, and the arc to its parent.
#[derive(Clone, Copy, Debug)]
struct Node {
    parent: u32,
    first_child: u32,
    next: u32,
    previous: u32,
    depth: u32,
    /// What moves along the arc between it and its parent, from the source of the two to the sink.
    moved: f64,
}

/// A problem and its tree, kept between pairs for their memory. Nodes are sources, then sinks.
#[derive(Debug, Default)]
pub(super) struct Transport {
    sources: Vec<u32>,
    sinks: Vec<u32>,
    /// What lies at each source, and what fits into each sink.
    masses: [Vec<f64>; 2],
    /// \[source\]\[sink\], infinite after the last sink to a multiple of [`LANES`].
    costs: Vec<f64>,
    /// Of sources, and of sinks to the same multiple.
    prices: [Vec<f64>; 2],
    nodes: Vec<Node>,
    /// Nodes to visit.
    stack: Vec<u32>,
    /// Sinks that are not full yet.
    open: Vec<u32>,
    /// Whether sources are bins of the second histogram.
    is_turned: bool,
}

impl Transport {
    /// The least work that turns one histogram into another: Σ mass · cost. Both are whole numbers with the same sum.
    ///
    /// For m sources and n sinks, of dense histograms, 2 (m + n) pivots where 64 bins differ and 4 (m + n) where 256 do. Each
    /// compares about three times n costs with prices, climbs a few arcs, and shifts the prices of a quarter of the nodes.
    pub fn work(&mut self, costs: &Costs, x: &[f64], y: &[f64]) -> f64 {
        self.set(costs, x, y);
        if self.sources.is_empty() {
            return 0.0;
        }
        self.begin();
        let mut entering = Some((0, 0));
        while let Some((source, _)) = entering {
            find_entering(&self.costs, [&self.prices[0], &self.prices[1]], source, &mut entering);
            if let Some((source, sink)) = entering {
                self.pivot(source, sink);
            }
        }
        self.arcs().map(|(source, sink, moved)| moved * self.costs[self.at(source, sink)]).sum()
    }

    /// What moves from which bin of the first histogram of [`Transport::work`] to which of the second, and what that costs.
    pub fn moves(&self) -> impl Iterator<Item = (usize, usize, f64)> {
        self.arcs().filter(|(_, _, moved)| *moved > 0.0).map(|(source, sink, moved)| {
            let [from, to] = [self.sources[source], self.sinks[sink]].map(|bin| bin as usize);
            let work = moved * self.costs[self.at(source, sink)];
            if self.is_turned { (to, from, work) } else { (from, to, work) }
        })
    }

    /// Sources, sinks and their costs.
    fn set(&mut self, costs: &Costs, x: &[f64], y: &[f64]) {
        self.sources.clear();
        self.sinks.clear();
        self.nodes.clear();
        self.masses.iter_mut().for_each(Vec::clear);
        // The histogram that has more in the first bin where they differ has the sources: turning the pair changes no bit.
        let Some(first) = x.iter().zip(y).position(|(x, y)| x != y) else { return };
        self.is_turned = x[first] < y[first];
        let (x, y) = if self.is_turned { (y, x) } else { (x, y) };
        for (bin, (&x, &y)) in x.iter().zip(y).enumerate() {
            // By the triangle inequality, what both have may stay.
            let common = if costs.is_metric { x.min(y) } else { 0.0 };
            if x > common {
                self.sources.push(bin as u32);
                self.masses[0].push(x - common);
            }
            if y > common {
                self.sinks.push(bin as u32);
                self.masses[1].push(y - common);
            }
        }
        let padding = self.sinks.len().next_multiple_of(LANES) - self.sinks.len();
        self.costs.clear();
        for &source in &self.sources {
            let of_source = &costs.costs[source as usize * costs.n_bins..][..costs.n_bins];
            self.costs.extend(self.sinks.iter().map(|&sink| of_source[sink as usize]));
            self.costs.extend([f64::INFINITY; LANES].iter().take(padding));
        }
    }

    /// Each source in turn fills the cheapest sinks. A source that is empty, or a sink that is full, hangs below the other end of
    /// the last arc that it had: the tree is strongly feasible.
    fn begin(&mut self) {
        let (m, n, stride) = (self.sources.len(), self.sinks.len(), self.sinks.len().next_multiple_of(LANES));
        let nothing = Node { parent: NONE, first_child: NONE, next: NONE, previous: NONE, depth: 0, moved: 0.0 };
        self.nodes.resize(m + n, nothing);
        self.prices[0].clear();
        self.prices[0].resize(m, 0.0);
        self.prices[1].clear();
        self.prices[1].resize(stride, 0.0);
        self.open.clear();
        self.open.extend(0..n as u32);
        // In the order in which they are done with: parents come later.
        self.stack.clear();
        let [of_sources, of_sinks] = &mut self.masses;
        for (source, left) in of_sources.iter_mut().enumerate() {
            let costs = &self.costs[source * stride..][..n];
            loop {
                let cost = |place: &usize| costs[self.open[*place] as usize];
                let least = (0..self.open.len()).reduce(|a, b| if cost(&b) < cost(&a) { b } else { a }).unwrap_or(0);
                let sink = self.open[least] as usize;
                let (child, parent) = if self.open.len() == 1 || *left < of_sinks[sink] {
                    (source, m + sink)
                } else {
                    (m + sink, source)
                };
                let moved = if child == source { *left } else { of_sinks[sink] };
                self.nodes[child] = Node { parent: parent as u32, moved, ..nothing };
                self.stack.push(child as u32);
                if child == source {
                    of_sinks[sink] -= moved;
                    break;
                }
                *left -= moved;
                self.open.swap_remove(least);
            }
        }
        while let Some(node) = self.stack.pop() {
            let Node { parent, moved, .. } = self.nodes[node as usize];
            self.hang(node, parent, moved);
            let cost = self.costs[self.arc(node, parent)];
            let price = cost - self.price(parent);
            *self.price_mut(node) = price;
            self.nodes[node as usize].depth = self.nodes[parent as usize].depth + 1;
        }
    }

    /// An arc enters the tree.
    fn pivot(&mut self, source: usize, sink: usize) {
        let m = self.sources.len() as u32;
        let (from, to) = (source as u32, m + sink as u32);
        let reduced = self.costs[self.at(source, sink)] - self.prices[0][source] - self.prices[1][sink];
        // What lessens: on the way up from the source the arcs of sources, on that from the sink those of sinks.
        let (mut a, mut b) = (from, to);
        let (mut most, mut leaving) = (f64::INFINITY, NONE);
        while a != b {
            let (at_a, at_b) = (self.nodes[a as usize], self.nodes[b as usize]);
            if at_a.depth >= at_b.depth {
                if a < m && at_a.moved < most {
                    (most, leaving) = (at_a.moved, a);
                }
                a = at_a.parent;
            } else {
                if b >= m && at_b.moved <= most {
                    (most, leaving) = (at_b.moved, b);
                }
                b = at_b.parent;
            }
        }
        let meeting = a;
        if most > 0.0 {
            for (end, is_from) in [(from, true), (to, false)] {
                let mut node = end;
                while node != meeting {
                    let lessens = (node < m) == is_from;
                    let at = &mut self.nodes[node as usize];
                    at.moved += if lessens { -most } else { most };
                    node = at.parent;
                }
            }
        }
        // What hangs on the leaving arc now hangs on the entering one, upside down. The leaving arc lessened: it is a source's on
        // the way from the source, and a sink's on the way from the sink.
        let (end, mut parent) = if leaving < m { (from, to) } else { (to, from) };
        let (mut node, mut moved) = (end, most);
        loop {
            let before = self.nodes[node as usize];
            self.cut(node);
            self.hang(node, parent, moved);
            if node == leaving {
                break;
            }
            (parent, node, moved) = (node, before.parent, before.moved);
        }
        let [of_sources, of_sinks] = if end == from { [reduced, -reduced] } else { [-reduced, reduced] };
        self.stack.push(end);
        while let Some(node) = self.stack.pop() {
            let Node { parent, first_child, .. } = self.nodes[node as usize];
            self.nodes[node as usize].depth = self.nodes[parent as usize].depth + 1;
            if node < m {
                self.prices[0][node as usize] += of_sources;
            } else {
                self.prices[1][(node - m) as usize] += of_sinks;
            }
            let mut child = first_child;
            while child != NONE {
                self.stack.push(child);
                child = self.nodes[child as usize].next;
            }
        }
    }

    fn hang(&mut self, node: u32, parent: u32, moved: f64) {
        let next = std::mem::replace(&mut self.nodes[parent as usize].first_child, node);
        if next != NONE {
            self.nodes[next as usize].previous = node;
        }
        let at = &mut self.nodes[node as usize];
        (at.parent, at.moved, at.next, at.previous) = (parent, moved, next, NONE);
    }

    fn cut(&mut self, node: u32) {
        let Node { parent, next, previous, .. } = self.nodes[node as usize];
        match previous {
            NONE => self.nodes[parent as usize].first_child = next,
            previous => self.nodes[previous as usize].next = next,
        }
        if next != NONE {
            self.nodes[next as usize].previous = previous;
        }
    }

    /// The arcs of the tree and what moves along them.
    fn arcs(&self) -> impl Iterator<Item = (usize, usize, f64)> {
        let m = self.sources.len();
        let below = self.nodes.iter().enumerate().filter(|(_, node)| node.parent != NONE);
        below.map(move |(at, node)| {
            let (source, sink) = (at.min(node.parent as usize), at.max(node.parent as usize));
            (source, sink - m, node.moved)
        })
    }

    /// Where the cost of an arc is.
    fn at(&self, source: usize, sink: usize) -> usize {
        source * self.sinks.len().next_multiple_of(LANES) + sink
    }

    /// The same of two nodes, whichever is the source.
    fn arc(&self, a: u32, b: u32) -> usize {
        self.at(a.min(b) as usize, a.max(b) as usize - self.sources.len())
    }

    fn price(&self, node: u32) -> f64 {
        let m = self.sources.len();
        let node = node as usize;
        if node < m { self.prices[0][node] } else { self.prices[1][node - m] }
    }

    fn price_mut(&mut self, node: u32) -> &mut f64 {
        let m = self.sources.len();
        let node = node as usize;
        if node < m { &mut self.prices[0][node] } else { &mut self.prices[1][node - m] }
    }
}

compiled! {
    /// Finds an arc that costs less than the prices of its ends: the one with the largest difference of the first source that has
    /// any, from `first` on and then from the beginning. A subtraction and a comparison an arc.
    fn find_entering(costs: &[f64], prices: [&[f64]; 2], first: usize, found: &mut Option<(usize, usize)>) {
        let [of_sources, of_sinks] = prices;
        let (costs, of_sinks) = (costs.as_chunks::<LANES>().0, of_sinks.as_chunks::<LANES>().0);
        let n_chunks = of_sinks.len();
        *found = None;
        for source in (first..of_sources.len()).chain(0..first) {
            let mut least = [f64::INFINITY; LANES];
            let row = &costs[source * n_chunks..][..n_chunks];
            for (at, prices) in of_sinks.iter().enumerate() {
                let costs = &row[at];
                for lane in 0..LANES {
                    let here = costs[lane] - prices[lane];
                    least[lane] = if here < least[lane] { here } else { least[lane] };
                }
            }
            let least = least.into_iter().fold(f64::INFINITY, |a, b| if b < a { b } else { a });
            if least < of_sources[source] {
                let mut pairs = row.as_flattened().iter().zip(of_sinks.as_flattened());
                *found = pairs.position(|(cost, price)| cost - price == least).map(|sink| (source, sink));
                return;
            }
        }
    }
}
