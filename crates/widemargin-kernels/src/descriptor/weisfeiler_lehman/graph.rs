//! A labeled graph, written as JSON: `{"nodes": ["C", "O"], "edges": [[0, 1, "="]]}`.

use serde_json::Value;

/// A valid graph, for messages.
pub(super) const EXAMPLE: &str = r#"{"nodes": ["C", "O"], "edges": [[0, 1]]}"#;

/// Vertices and edges with their labels.
#[derive(Debug, PartialEq)]
pub(super) struct Graph {
    /// The label of each vertex.
    pub nodes: Vec<String>,
    pub edges: Vec<Edge>,
}

/// From one vertex to another. Without a label it is empty.
#[derive(Debug, PartialEq)]
pub(super) struct Edge {
    pub from: usize,
    pub to: usize,
    pub label: String,
}

impl Graph {
    /// Reads a graph; the error is a message with the problem and the expected form.
    pub fn read(text: &str) -> Result<Graph, String> {
        let wrong =
            |problem: &dyn std::fmt::Display| format!("is no graph, since {problem}: expected such as {EXAMPLE}");
        let value: Value = serde_json::from_str(text).map_err(|error| wrong(&error))?;
        let Value::Object(mut members) = value else { return Err(wrong(&"it is no object")) };
        let mut list = |name: &str| match members.remove(name) {
            Some(Value::Array(list)) => Ok(list),
            Some(_) => Err(wrong(&format!("\"{name}\" is no list"))),
            None => Err(wrong(&format!("it has no \"{name}\""))),
        };
        let (nodes, edges) = (list("nodes")?, list("edges")?);
        if let Some(other) = members.keys().next() {
            return Err(wrong(&format!("\"{other}\" is not known")));
        }
        let node = |(at, node): (usize, Value)| {
            label(node).ok_or_else(|| format!("has a node {at} whose label is neither a text nor a number"))
        };
        let nodes = nodes.into_iter().enumerate().map(node).collect::<Result<Vec<String>, String>>()?;
        let edge = |(at, edge): (usize, Value)| {
            let text = edge.to_string();
            let no_edge = || format!("has an edge {at}, {text}, that is not two vertices and perhaps a label");
            let Value::Array(mut parts) = edge else { return Err(no_edge()) };
            let label = match parts.len() {
                2 => String::new(),
                3 => parts.pop().and_then(label).ok_or_else(no_edge)?,
                _ => return Err(no_edge()),
            };
            let vertex = |part: &Value| {
                let vertex = part.as_u64().ok_or_else(no_edge)?;
                usize::try_from(vertex).ok().filter(|vertex| *vertex < nodes.len()).ok_or_else(|| {
                    format!("has an edge {at}, {text}, to a vertex {vertex} that is not there: it has {} nodes, numbered from 0", nodes.len())
                })
            };
            Ok(Edge { from: vertex(&parts[0])?, to: vertex(&parts[1])?, label })
        };
        let edges = edges.into_iter().enumerate().map(edge).collect::<Result<Vec<Edge>, String>>()?;
        Ok(Graph { nodes, edges })
    }
}

/// The text of a label.
fn label(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}
