//! Similarities selected by their specs at run time; several can be combined, each with its own descriptors.
//!
//! Descriptors are shared: `hog:cell=8/rbf:gamma=1` and `hog:cell=8/rigid:radius=1` compute the cells of an image once.

pub(super) mod kernel;
mod registry;

use std::any::Any;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use self::kernel::{AnyKernel, Typed};
use super::grid::{GridMatching, PackedBases};
use super::{ColumnMeaning, Comparison, Extension, Metadata, PartOptions, Similarity, Spec};
use crate::data::{AnySamples, Grids, Kind, Mapped, OwnSamples, Samples, SamplesView, Source, Training};
use crate::descriptor::Descriptor;
use crate::error::{Error, Result};

pub use self::registry::{descriptor_rows, keeps_columns, similarity_rows};

/// One or several similarities of samples of any of the library's kinds.
///
/// It has to be fitted with [`Similarity::fit`].
pub struct AnySimilarity {
    nodes: Vec<Node>,
    leaves: Vec<Leaf>,
    parts: Vec<Part>,
}

/// A descriptor in the tree of chains.
struct Node {
    /// The specs of all steps up to this one; chains with equal paths share it.
    path: String,
    parent: Option<usize>,
    descriptor: Box<dyn Descriptor>,
}

/// The input of some similarities: the output of a node, as the kind they accept.
#[derive(PartialEq)]
struct Leaf {
    node: Option<usize>,
    /// The kinds of samples that its parts take.
    takes: &'static [&'static str],
    /// Whether they depend on differences between samples alone.
    has_differences: bool,
}

struct Part {
    /// Without steps for a user-defined similarity, whose name may be any text.
    spec: Spec,
    leaf: usize,
    kernel: Box<dyn AnyKernel>,
    options: PartOptions,
}

impl AnySimilarity {
    /// The combined similarities of these specs.
    ///
    /// # Errors
    /// [`Error::UnknownName`] and [`Error::Parameter`], naming the spec and the known names; [`Error::Parameter`]
    /// without any spec.
    pub fn new<T: AsRef<str>>(specs: &[T]) -> Result<Self> {
        AnySimilarity::of_kernels(specs, Vec::new())
    }

    /// The combined similarities of these specs, followed by user-defined ones.
    ///
    /// # Errors
    /// As for [`AnySimilarity::new`]; [`Error::Parameter`] if a similarity with polynomials is combined with others.
    pub fn with_own(specs: &[String], own: Vec<impl Similarity<Samples = OwnSamples>>) -> Result<Self> {
        let kernel = |own| -> Box<dyn AnyKernel> { Box::new(Typed(own)) };
        AnySimilarity::of_kernels(specs, own.into_iter().map(kernel).collect())
    }

    fn of_kernels(specs: &[impl AsRef<str>], own: Vec<Box<dyn AnyKernel>>) -> Result<Self> {
        if specs.is_empty() && own.is_empty() {
            return Err(Error::parameter("similarity", "none", "at least one, such as rbf"));
        }
        let mut set = AnySimilarity { nodes: Vec::new(), leaves: Vec::new(), parts: Vec::new() };
        specs.iter().try_for_each(|spec| set.add(spec.as_ref().parse()?))?;
        for kernel in own {
            set.add_part(Spec { steps: Vec::new() }, None, kernel, PartOptions::default());
        }
        let stands_alone = |own: &Metadata| own.brings_columns && !own.has_own_features;
        if set.parts.len() > 1 && set.parts.iter().any(|part| stands_alone(&part.kernel.metadata())) {
            let expected = "precomputed similarities stand alone: concatenate the blocks in one file";
            return Err(Error::parameter("similarity", set.spec(), expected));
        }
        match set.parts.iter().find(|part| part.kernel.metadata().n_polynomials > 0) {
            Some(part) if set.parts.len() > 1 => {
                let expected = "a similarity with polynomials cannot be combined";
                Err(Error::parameter("similarity", part.kernel.spec(), expected))
            }
            _ => Ok(set),
        }
    }

    fn add(&mut self, spec: Spec) -> Result<()> {
        let Some((last, before)) = spec.steps.split_last() else {
            return Err(Error::parameter("similarity", "''", "a name, such as rbf"));
        };
        let mut node = None;
        let mut path = String::new();
        for step in before {
            for descriptor in registry::descriptors(step)? {
                path = format!("{path}{}/", descriptor.spec());
                let known = self.nodes.iter().position(|node| node.path == path);
                node = Some(known.unwrap_or_else(|| {
                    self.nodes.push(Node { path: path.clone(), parent: node, descriptor });
                    self.nodes.len() - 1
                }));
            }
        }
        let mut last = last.clone();
        let options = PartOptions::take(&mut last)?;
        let kernel = registry::similarity(&last)?;
        let own = kernel.metadata();
        if own.brings_columns {
            let expected = match own.has_own_features {
                false if options != PartOptions::default() => {
                    "no weight and no bases: precomputed similarities stand alone and bring their columns"
                }
                true if options.n_basis.is_some() => "no bases: features are a sample's own",
                _ => "",
            };
            if !expected.is_empty() {
                return Err(Error::parameter("similarity", spec.to_string(), expected));
            }
        }
        self.add_part(spec, node, kernel, options);
        Ok(())
    }

    fn add_part(&mut self, spec: Spec, node: Option<usize>, kernel: Box<dyn AnyKernel>, options: PartOptions) {
        let input = Leaf { node, takes: kernel.takes(), has_differences: kernel.metadata().depends_on_differences };
        let known = self.leaves.iter().position(|leaf| *leaf == input);
        let leaf = known.unwrap_or_else(|| {
            self.leaves.push(input);
            self.leaves.len() - 1
        });
        self.parts.push(Part { spec, leaf, kernel, options });
    }

    /// The specs, with learned values filled in.
    pub fn specs(&self) -> Vec<String> {
        (0..self.parts.len()).map(|part| self.part(part)).collect()
    }

    /// The kinds of samples accepted by all parts, named as by [`AnySamples::kind`], in the first part's order of
    /// preference; empty if there are none.
    #[doc(hidden)]
    pub fn takes(&self) -> Vec<&'static str> {
        let mut parts = self.parts.iter().map(|part| self.part_takes(part));
        let first = parts.next().unwrap_or_default();
        parts.fold(first, |kinds, part| kinds.into_iter().filter(|kind| part.contains(kind)).collect())
    }

    fn part_takes(&self, part: &Part) -> Vec<&'static str> {
        let nodes = std::iter::successors(self.leaves[part.leaf].node, |&node| self.nodes[node].parent);
        let mut descriptors: Vec<&dyn Descriptor> = nodes.map(|node| &*self.nodes[node].descriptor).collect();
        descriptors.reverse();
        let wanted = part.kernel.takes();
        let Some(first) = descriptors.first() else { return wanted.to_vec() };
        let suits = |kind: &&'static str| {
            let next =
                |kind, descriptor: &&dyn Descriptor| descriptor.takes().contains(&kind).then(|| descriptor.gives(kind));
            descriptors.iter().try_fold(*kind, next).is_some_and(|kind| wanted.contains(&kind))
        };
        first.takes().iter().copied().filter(suits).collect()
    }

    /// The learned parameters of the descriptors, by name, for the model file.
    #[doc(hidden)]
    pub fn state(&self) -> Vec<(String, &[f32])> {
        let named = self.nodes.iter().enumerate().flat_map(|(at, node)| {
            node.descriptor.state().into_iter().map(move |(name, values)| (format!("descriptor.{at}.{name}"), values))
        });
        named.collect()
    }

    /// Restores the result of [`AnySimilarity::state`] for the same specs.
    ///
    /// # Errors
    /// Missing or inconsistent parameters.
    #[doc(hidden)]
    pub fn restore(&mut self, state: &mut dyn FnMut(&str) -> Result<Vec<f32>>) -> Result<()> {
        for (at, node) in self.nodes.iter_mut().enumerate() {
            node.descriptor.restore(&mut |name| state(&format!("descriptor.{at}.{name}")))?;
        }
        Ok(())
    }

    /// The blocks of some parts of a leaf. Grid similarities share the products of cells.
    fn leaf_blocks(
        &self,
        leaf: usize,
        is_requested: impl Fn(usize) -> bool,
        bases: &AnySamples,
        samples: &AnySamples,
        blocks: &mut [&mut [f32]],
    ) -> Result<()> {
        let matching = |part: usize| {
            let kernel: &dyn Any = &*self.parts[part].kernel;
            kernel.downcast_ref::<Typed<GridMatching>>().map(|typed| typed.0)
        };
        let (mut shared, mut shared_blocks) = (Vec::new(), Vec::new());
        let of_leaf = |part: usize| self.parts[part].leaf == leaf && is_requested(part);
        for (part, block) in blocks.iter_mut().enumerate().filter(|(part, _)| of_leaf(*part)) {
            match matching(part) {
                Some(matching) => {
                    shared.push(matching);
                    shared_blocks.push(&mut **block);
                }
                None => self.parts[part].kernel.block(bases, samples, block)?,
            }
        }
        match (Grids::of(bases), Grids::of(samples)) {
            (Some(bases), Some(samples)) if !shared.is_empty() => {
                PackedBases::new(&shared, bases).fill(samples, &mut shared_blocks)
            }
            _ => Ok(()),
        }
    }

    /// Fills the blocks of the parts, one after another: `columns` has the width of the block of a part and the number
    /// of bases with which it is compared, as in [`PartOptions::n_basis`]; none for a part that is left out.
    fn fill(
        &self,
        bases: &AnySamples,
        samples: &AnySamples,
        block: &mut [f32],
        columns: impl Fn(usize) -> Option<(usize, Option<usize>)>,
    ) -> Result<()> {
        let (n_columns, columns) = (self.n_columns(bases), (0..self.parts.len()).map(columns).collect::<Vec<_>>());
        let (bases, samples) = self.described(bases, samples)?;
        let (mut blocks, mut rest) = (Vec::with_capacity(self.parts.len()), block);
        for (part, columns) in self.parts.iter().zip(&columns) {
            let width = columns.map_or(0, |(width, _)| width);
            let (own, left) = rest.split_at_mut(samples[part.leaf].len() * width);
            blocks.push(own);
            rest = left;
        }
        for (leaf, (bases, samples)) in bases.iter().zip(samples).enumerate() {
            // Parts with the same number of bases share them. Features of a sample's own have no such number.
            let distinct: BTreeSet<_> = self.of_leaf(leaf).filter_map(|part| Some(columns[part]?.1)).collect();
            for shared in distinct {
                let of = |part: usize| columns[part].is_some_and(|(_, n_basis)| n_basis == shared);
                let options = PartOptions { n_basis: shared, ..PartOptions::default() };
                if options.width(n_columns) == n_columns {
                    self.leaf_blocks(leaf, of, bases, samples, &mut blocks)?;
                } else {
                    let own = Samples::select(bases, &options.columns(n_columns));
                    self.leaf_blocks(leaf, of, &own, samples, &mut blocks)?;
                }
            }
        }
        Ok(())
    }

    /// The bases and samples of each leaf.
    fn described<'a>(
        &self,
        bases: &'a AnySamples,
        samples: &'a AnySamples,
    ) -> Result<(&'a [AnySamples], &'a [AnySamples])> {
        match (bases, samples) {
            (AnySamples::Described(bases), AnySamples::Described(samples)) => Ok((bases, samples)),
            _ => Err(Error::similarity(self.spec(), "its samples were not described first")),
        }
    }

    /// The same of the leaf of a part.
    fn of_part<'a>(
        &self,
        part: usize,
        bases: &'a AnySamples,
        samples: &'a AnySamples,
    ) -> Result<(&'a AnySamples, &'a AnySamples)> {
        let ((bases, samples), leaf) = (self.described(bases, samples)?, self.parts[part].leaf);
        Ok((&bases[leaf], &samples[leaf]))
    }

    /// The parts that compare the samples of a leaf.
    fn of_leaf(&self, leaf: usize) -> impl Iterator<Item = usize> {
        (0..self.parts.len()).filter(move |&part| self.parts[part].leaf == leaf)
    }
}

impl fmt::Debug for AnySimilarity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.specs()).finish()
    }
}

impl Similarity for AnySimilarity {
    type Samples = AnySamples;

    fn source<'a>(samples: &'a SamplesView<'_>) -> Result<&'a dyn Source<Samples = AnySamples>> {
        Ok(samples)
    }

    fn spec(&self) -> String {
        self.specs().join(" ")
    }

    fn unfitted(&self) -> Option<Self> {
        let own: Vec<_> = self.parts.iter().filter_map(|part| part.kernel.unfitted_own()).collect();
        let specs = self.specs();
        AnySimilarity::of_kernels(&specs[..specs.len() - own.len()], own).ok()
    }

    fn fit(&mut self, training: &Training<'_, AnySamples>) -> Result<()> {
        for at in 0..self.nodes.len() {
            // Parents come first.
            let (before, rest) = self.nodes.split_at_mut(at);
            let Node { parent, descriptor, .. } = &mut rest[0];
            let source = Mapped { source: training.samples, map: |samples| at_node(before, *parent, samples) };
            descriptor.fit(&training.of(&source))?;
        }
        for Part { leaf, kernel, .. } in &mut self.parts {
            let node = self.leaves[*leaf].node;
            let source = Mapped { source: training.samples, map: |samples| at_node(&self.nodes, node, samples) };
            kernel.fit(&training.of(&source))?;
        }
        Ok(())
    }

    fn describe(&self, samples: AnySamples) -> Result<AnySamples> {
        // Each node once, in order; parents come first.
        let mut described: Vec<AnySamples> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let before = node.parent.map_or(samples.built_in(), |parent| &described[parent]).clone();
            described.push(node.descriptor.describe(before)?);
        }
        let leaf = |(at, leaf): (usize, &Leaf)| {
            let is_own = leaf.takes == OwnSamples::TAKES;
            let root = if is_own { &samples } else { samples.built_in() };
            let input = leaf.node.map_or(root, |node| &described[node]).clone();
            match self.of_leaf(at).next() {
                Some(part) => self.parts[part].kernel.describe(input),
                None => Ok(input),
            }
        };
        Ok(AnySamples::Described(self.leaves.iter().enumerate().map(leaf).collect::<Result<_>>()?))
    }

    fn seconds_per_pair(&self, bases: &AnySamples) -> f64 {
        let AnySamples::Described(leaves) = bases else { return 0.0 };
        self.parts.iter().map(|part| part.kernel.seconds_per_pair(&leaves[part.leaf])).sum()
    }

    fn n_columns(&self, bases: &AnySamples) -> usize {
        // Of those that compare, if any does.
        let part = self.parts.iter().find(|part| !part.kernel.metadata().has_own_features).or(self.parts.first());
        match (bases, part) {
            (AnySamples::Described(leaves), Some(part)) => part.kernel.n_columns(&leaves[part.leaf]),
            _ => bases.len(),
        }
    }

    fn block(&self, bases: &AnySamples, samples: &AnySamples, block: &mut [f32]) -> Result<()> {
        let n_columns = self.n_columns(bases);
        self.fill(bases, samples, block, |_| Some((n_columns, None)))
    }

    fn options(&self, part: usize) -> PartOptions {
        self.parts[part].options
    }

    fn set_weight(&mut self, part: usize, weight: f64) {
        self.parts[part].options.weight = Some(weight);
    }

    fn own_features(&self, part: usize, bases: &AnySamples) -> Option<usize> {
        let Part { kernel, leaf, .. } = &self.parts[part];
        match bases {
            AnySamples::Described(leaves) if kernel.metadata().has_own_features => {
                Some(kernel.n_columns(&leaves[*leaf]))
            }
            _ => None,
        }
    }

    fn own_block(&self, left_out: &[bool], bases: &AnySamples, samples: &AnySamples, block: &mut [f32]) -> Result<()> {
        let n_columns = self.n_columns(bases);
        let columns = |part: usize| {
            let PartOptions { n_basis, .. } = self.parts[part].options;
            let width = || self.own_features(part, bases).unwrap_or(self.parts[part].options.width(n_columns));
            (!left_out[part]).then(|| (width(), n_basis))
        };
        self.fill(bases, samples, block, columns)
    }

    fn extension(&self, part: usize, bases: &AnySamples, samples: &AnySamples, wanted: Extension<'_>) -> Result<bool> {
        let (bases, samples) = self.of_part(part, bases, samples)?;
        self.parts[part].kernel.extension(0, bases, samples, wanted)
    }

    fn metadata(&self) -> Metadata {
        let of_parts = || self.parts.iter().map(|part| (part, part.kernel.metadata()));
        // Descriptors of vectors scale them, from their differences from the offsets.
        let is_of_differences =
            |(part, own): (&Part, Metadata)| self.leaves[part.leaf].node.is_some() || own.depends_on_differences;
        Metadata {
            // Those that have some stand alone.
            n_polynomials: of_parts().map(|(_, own)| own.n_polynomials).sum(),
            brings_columns: of_parts().all(|(_, own)| own.brings_columns),
            has_own_features: of_parts().all(|(_, own)| own.has_own_features),
            depends_on_differences: of_parts().all(is_of_differences),
        }
    }

    fn n_parts(&self) -> usize {
        self.parts.len()
    }

    fn part(&self, part: usize) -> String {
        let mut spec = self.parts[part].spec.clone();
        let Some(last) = spec.steps.last_mut() else { return self.parts[part].kernel.spec() };
        // The kernel's own spec has the learned values; it is a single step like the original.
        match self.parts[part].kernel.spec().parse::<Spec>() {
            Ok(mut learned) if learned.steps.len() == 1 => *last = learned.steps.remove(0),
            _ => {}
        }
        self.parts[part].options.put(last);
        spec.to_string()
    }

    fn is_symmetric(&self, part: usize) -> bool {
        self.parts[part].kernel.is_symmetric(0)
    }

    fn comparison(&self, part: usize, basis: &AnySamples, sample: &AnySamples) -> Result<Option<Comparison>> {
        let (basis, sample) = self.of_part(part, basis, sample)?;
        self.parts[part].kernel.comparison(0, basis, sample)
    }

    fn column_meaning(&self, part: usize, samples: &AnySamples) -> Result<ColumnMeaning> {
        let (mut node, samples) = (self.leaves[self.parts[part].leaf].node, samples.built_in());
        if let AnySamples::Grids(grids) = at_node(&self.nodes, node, samples.clone())? {
            return Ok(ColumnMeaning::Cells { rows: grids.rows(), cols: grids.cols(), depth: grids.depth() });
        }
        // From the last descriptor back to one that makes columns anew.
        while let Some(at) = node {
            let Node { parent, descriptor, .. } = &self.nodes[at];
            if !descriptor.keeps_columns() {
                let terms = match at_node(&self.nodes, *parent, samples.clone())? {
                    AnySamples::Strings(strings) => descriptor.terms(&strings),
                    _ => None,
                };
                return Ok(terms.map_or(ColumnMeaning::Unknown, ColumnMeaning::Terms));
            }
            node = *parent;
        }
        Ok(if matches!(samples, AnySamples::Vectors(_) | AnySamples::Far(_)) {
            ColumnMeaning::Input
        } else {
            ColumnMeaning::Unknown
        })
    }
}

/// Samples transformed by the descriptors up to a node.
fn at_node(nodes: &[Node], node: Option<usize>, samples: AnySamples) -> Result<AnySamples> {
    match node {
        None => match samples {
            AnySamples::Own(OwnSamples { built_in: Some(samples), .. }) => Ok(Arc::unwrap_or_clone(samples)),
            samples => Ok(samples),
        },
        Some(node) => nodes[node].descriptor.describe(at_node(nodes, nodes[node].parent, samples)?),
    }
}
