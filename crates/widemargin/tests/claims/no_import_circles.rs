//! No files of a crate import each other in a circle, whatever their length.
//!
//! A file imports another where one of its paths ends at an item that the other defines. A module that only passes a
//! name on (`pub use`) does not depend on the item, and who takes it from there depends on the file that defines it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};
use syn::{Item, ItemMod, ItemUse, UseTree, Visibility};

/// The path of a module, from the root of its crate.
type ModulePath = Vec<String>;

/// The path that a module brings into scope by one name.
struct Import {
    path: Vec<String>,
    passed_on: bool,
}

struct Module {
    file: PathBuf,
    imports: BTreeMap<String, Import>,
    globs: Vec<Vec<String>>,
}

/// The modules of a crate, and the parsed files.
#[derive(Default)]
struct Crate {
    modules: BTreeMap<ModulePath, Module>,
    files: Vec<(ModulePath, PathBuf, Vec<Item>)>,
}

type Edges = BTreeMap<PathBuf, BTreeMap<PathBuf, BTreeSet<String>>>;

impl Crate {
    fn read(root: &Path) -> Crate {
        let mut found = Crate::default();
        found.add_file(root.to_owned(), root.parent().unwrap(), Vec::new());
        found
    }

    fn add_file(&mut self, file: PathBuf, folder: &Path, path: ModulePath) {
        let text = fs::read_to_string(&file).unwrap();
        let items = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display())).items;
        self.add_module(&items, &file, folder, path.clone());
        self.files.push((path, file, items));
    }

    fn add_module(&mut self, items: &[Item], file: &Path, folder: &Path, path: ModulePath) {
        let mut module = Module { file: file.to_owned(), imports: BTreeMap::new(), globs: Vec::new() };
        for item in items {
            match item {
                Item::Use(item) => {
                    let passed_on = !matches!(item.vis, Visibility::Inherited);
                    leaves(&item.tree, &mut Vec::new(), &mut |name, path| match name {
                        Some(name) => {
                            module.imports.insert(name, Import { path, passed_on });
                        }
                        None => module.globs.push(path),
                    });
                }
                Item::Mod(item) if !is_test(item) => {
                    let name = item.ident.to_string();
                    let (path, inner) = ([path.clone(), vec![name.clone()]].concat(), folder.join(&name));
                    if let Some((_, items)) = &item.content {
                        self.add_module(items, file, &inner, path);
                    } else {
                        let file = folder.join(format!("{name}.rs"));
                        let file = if file.exists() { file } else { inner.join("mod.rs") };
                        self.add_file(file, &inner, path);
                    }
                }
                _ => {}
            }
        }
        self.modules.insert(path, module);
    }

    /// The file that defines what `path` names, seen from the module `from`; `None` for paths outside of this crate.
    fn defined_in(&self, from: &[String], path: &[String], depth: usize) -> Option<&Path> {
        let (mut at, mut rest) = match path.first()?.as_str() {
            "crate" => (Vec::new(), &path[1..]),
            "self" => (from.to_vec(), &path[1..]),
            "super" => (from.split_last()?.1.to_vec(), &path[1..]),
            _ => (from.to_vec(), path),
        };
        let mut moved = rest.len() < path.len();
        while let Some((name, after)) = rest.split_first() {
            let inner = [at.clone(), vec![name.clone()]].concat();
            if name == "super" {
                at.pop()?;
            } else if self.modules.contains_key(&inner)
                && !(after.is_empty() && self.modules[&at].imports.contains_key(name))
            {
                at = inner;
            } else {
                let module = &self.modules[&at];
                if let Some(import) = module.imports.get(name).filter(|_| depth < 16) {
                    let mut whole = import.path.clone();
                    if whole != [name.clone()] {
                        whole.extend_from_slice(after);
                        return self.defined_in(&at, &whole, depth + 1);
                    }
                }
                // A name from a glob is of the module that the glob names, if that module is of this crate.
                for glob in module.globs.iter().filter(|_| depth < 16 && moved) {
                    if let Some(file) = self.defined_in(&at, &[glob.clone(), vec![name.clone()]].concat(), depth + 1) {
                        return Some(file);
                    }
                }
                return moved.then_some(module.file.as_path());
            }
            moved = true;
            rest = after;
        }
        // A module itself is not a dependency: its items are.
        None
    }

    fn edges(&self) -> Edges {
        let mut edges = Edges::new();
        for (path, file, items) in &self.files {
            let mut paths = Paths { krate: self, file, module: path.clone(), edges: &mut edges };
            items.iter().for_each(|item| paths.visit_item(item));
        }
        edges
    }
}

/// Collects the items that the paths of a file name.
struct Paths<'a> {
    krate: &'a Crate,
    file: &'a Path,
    module: ModulePath,
    edges: &'a mut Edges,
}

impl Paths<'_> {
    fn add(&mut self, path: &[String]) {
        if let Some(to) = self.krate.defined_in(&self.module, path, 0).filter(|to| *to != self.file) {
            let to = self.edges.entry(self.file.to_owned()).or_default().entry(to.to_owned()).or_default();
            to.insert(path.join("::"));
        }
    }
}

impl<'ast> Visit<'ast> for Paths<'_> {
    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        if !is_test(item) && item.content.is_some() {
            self.module.push(item.ident.to_string());
            visit::visit_item_mod(self, item);
            self.module.pop();
        }
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        if matches!(item.vis, Visibility::Inherited) {
            leaves(&item.tree, &mut Vec::new(), &mut |_, path| self.add(&path));
        }
    }

    fn visit_visibility(&mut self, _: &'ast Visibility) {}

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        // A bare name that was imported for this file alone is counted where it was imported.
        let known = self.krate.modules.get(&self.module).and_then(|module| module.imports.get(&names[0]));
        if names.len() > 1 || known.is_none_or(|import| import.passed_on) {
            self.add(&names);
        }
        visit::visit_path(self, path);
    }
}

fn is_test(item: &ItemMod) -> bool {
    item.attrs.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute.parse_args::<syn::Path>().is_ok_and(|condition| condition.is_ident("test"))
    })
}

/// Calls `found` for each path that a `use` names, with the name that it is known by, or without for a glob.
fn leaves(tree: &UseTree, before: &mut Vec<String>, found: &mut dyn FnMut(Option<String>, Vec<String>)) {
    let with = |before: &[String], name: &syn::Ident| [before.to_vec(), vec![name.to_string()]].concat();
    match tree {
        UseTree::Path(path) => {
            before.push(path.ident.to_string());
            leaves(&path.tree, before, found);
            before.pop();
        }
        UseTree::Name(name) if name.ident == "self" => found(before.last().cloned(), before.clone()),
        UseTree::Name(name) => found(Some(name.ident.to_string()), with(before, &name.ident)),
        UseTree::Rename(name) => found(Some(name.rename.to_string()), with(before, &name.ident)),
        UseTree::Glob(_) => found(None, before.clone()),
        UseTree::Group(group) => group.items.iter().for_each(|tree| leaves(tree, before, found)),
    }
}

/// The edges that lie on circles: those within groups of files that all lead to one another.
fn circles(edges: &Edges) -> Vec<String> {
    let reached = |from: &PathBuf| {
        let (mut visited, mut open) = (BTreeSet::new(), vec![from]);
        while let Some(file) = open.pop() {
            open.extend(
                edges.get(file).into_iter().flat_map(BTreeMap::keys).filter(|to| visited.insert((*to).clone())),
            );
        }
        visited
    };
    let all: BTreeMap<&PathBuf, BTreeSet<PathBuf>> = edges.keys().map(|file| (file, reached(file))).collect();
    let mut found = Vec::new();
    for (from, to) in edges {
        for (to, names) in to.iter().filter(|(to, _)| all.get(to).is_some_and(|reached| reached.contains(from))) {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            found.push(format!("{} -> {}: {}", from.display(), to.display(), names.join(", ")));
        }
    }
    found
}

#[test]
fn no_files_import_each_other_in_a_circle() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let (mut n_edges, mut found) = (0, Vec::new());
    for folder in fs::read_dir(crates).unwrap() {
        let source = folder.unwrap().path().join("src");
        for root in ["lib.rs", "main.rs"].map(|name| source.join(name)).into_iter().filter(|root| root.exists()) {
            let edges = Crate::read(&root).edges();
            n_edges += edges.values().map(BTreeMap::len).sum::<usize>();
            found.extend(circles(&edges));
        }
    }
    assert!(n_edges > 300, "only {n_edges} imports were found");
    let shown = found.join("\n").replace(&format!("{}/", crates.display()), "");
    assert!(found.is_empty(), "files import each other in circles:\n{shown}");
}

#[test]
fn finds_circles_through_reexported_names() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let file = folder.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    };
    write("lib.rs", "mod a;\nmod b;\nmod c;\n");
    write("a/mod.rs", "mod inner;\npub use inner::Inner;\n");
    write("a/inner.rs", "pub struct Inner;\n");
    write("b.rs", "use crate::a::Inner;\npub fn b(_: Inner) {}\n");
    write("c.rs", "pub fn c() { crate::b::b(loop {}) }\n#[cfg(test)]\nmod tests { use crate::a::Inner; }\n");
    let root = folder.path().join("lib.rs");
    assert_eq!(circles(&Crate::read(&root).edges()), Vec::<String>::new());
    write("a/inner.rs", "pub struct Inner;\nimpl Inner { fn f() { super::super::c::c() } }\n");
    let found = circles(&Crate::read(&root).edges());
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(found.iter().any(|edge| edge.contains("b.rs") && edge.ends_with("crate::a::Inner")), "{found:?}");
}
