//! A picture of an evaluation: the confusion matrix and, of two classes, the receiver operating characteristic and the
//! precision-recall curve.

use std::path::Path;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use widemargin::select::{ConfusionMatrix, Ranking};

use crate::output::Output;
use crate::report::Failure;

/// Width and height of a panel in pixels.
const PANEL: u32 = 460;

/// Classes beyond which numbers and names have no room.
const MOST_NUMBERS: usize = 20;

const LINE: RGBColor = RGBColor(31, 119, 180);
const GRAY: RGBColor = RGBColor(150, 150, 150);

/// Checks the name of a picture's file.
pub fn check_name(file: &Path) -> Result<(), Failure> {
    if file.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("svg")) {
        return Ok(());
    }
    let failure = Failure::input(format!("--plot {}: pictures are written as SVG", file.display()));
    Err(failure.help("name a file that ends in .svg: browsers show it and print it as PDF"))
}

/// Draws, and writes the file.
pub fn write(file: &Path, title: &str, confusion: &ConfusionMatrix, ranking: Option<&Ranking>) -> Result<(), Failure> {
    let text = draw(title, confusion, ranking).map_err(|error| Failure::work(format!("--plot: {error}")))?;
    let mut output = Output::open(Some(file))?;
    output.write(text.as_bytes())?;
    output.finish()
}

type Drawn = Result<(), Box<dyn std::error::Error>>;

fn draw(
    title: &str,
    confusion: &ConfusionMatrix,
    ranking: Option<&Ranking>,
) -> Result<String, Box<dyn std::error::Error>> {
    let mut text = String::new();
    let n_panels = if ranking.is_some() { 3 } else { 1 };
    {
        let root = SVGBackend::with_string(&mut text, (PANEL * n_panels, PANEL + 30)).into_drawing_area();
        root.fill(&WHITE)?;
        let root = root.titled(title, ("sans-serif", 18))?;
        let panels = root.split_evenly((1, n_panels as usize));
        draw_confusion(&panels[0], confusion)?;
        if let Some(ranking) = ranking {
            let caption = format!("ROC curve, area {:.4}", ranking.roc_auc());
            let names = ["false positive rate", "true positive rate"];
            draw_curve(&panels[1], (&caption, names), ranking.roc_curve(), true)?;
            let caption = format!("Precision-recall curve, average {:.4}", ranking.average_precision());
            let points = in_steps(&ranking.precision_recall_curve());
            draw_curve(&panels[2], (&caption, ["recall", "precision"]), points, false)?;
        }
        root.present()?;
    }
    Ok(text)
}

/// The precision at a recall holds back to the recall before it, as the average precision counts it.
fn in_steps(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let step = |pair: &[(f64, f64)]| [(pair[0].0, pair[1].1), pair[1]];
    points.first().copied().into_iter().chain(points.windows(2).flat_map(step)).collect()
}

fn draw_curve(
    area: &DrawingArea<SVGBackend<'_>, Shift>,
    (caption, names): (&str, [&str; 2]),
    points: Vec<(f64, f64)>,
    has_chance: bool,
) -> Drawn {
    let mut chart = ChartBuilder::on(area)
        .caption(caption, ("sans-serif", 15))
        .margin(12)
        .x_label_area_size(38)
        .y_label_area_size(46)
        .build_cartesian_2d(0.0..1.0f64, 0.0..1.0f64)?;
    chart
        .configure_mesh()
        .x_desc(names[0])
        .y_desc(names[1])
        .x_labels(6)
        .y_labels(6)
        .light_line_style(TRANSPARENT)
        .bold_line_style(GRAY.mix(0.3))
        .label_style(("sans-serif", 12))
        .draw()?;
    if has_chance {
        chart.draw_series(DashedLineSeries::new([(0.0, 0.0), (1.0, 1.0)], 4, 4, GRAY.stroke_width(1)))?;
    }
    chart.draw_series(LineSeries::new(points, LINE.stroke_width(2)))?;
    Ok(())
}

fn draw_confusion(area: &DrawingArea<SVGBackend<'_>, Shift>, confusion: &ConfusionMatrix) -> Drawn {
    let n = confusion.labels.len();
    let has_numbers = n <= MOST_NUMBERS;
    let names: Vec<String> = confusion.labels.iter().map(|label| shortened(&label.to_string())).collect();
    let widest = names.iter().map(|name| name.chars().count() as u32).max().unwrap_or(1);
    let mut chart = ChartBuilder::on(area)
        .caption("Confusion matrix", ("sans-serif", 15))
        .margin(12)
        .x_label_area_size(38)
        .y_label_area_size(46 + 6 * widest)
        .build_cartesian_2d(0.0..n as f64, n as f64..0.0)?;
    let (x_names, y_names) = (names.clone(), names);
    let name_at = |names: Vec<String>| {
        move |at: &f64| if has_numbers { names.get(*at as usize).cloned().unwrap_or_default() } else { String::new() }
    };
    let (x_name, y_name) = (name_at(x_names), name_at(y_names));
    // Labels are drawn below, in the middle of each cell.
    chart
        .configure_mesh()
        .disable_mesh()
        .x_labels(0)
        .y_labels(0)
        .x_desc("predicted")
        .y_desc("actual")
        .label_style(("sans-serif", 12))
        .draw()?;
    for (row, counts) in confusion.counts.iter().enumerate() {
        let total: f64 = counts.iter().sum();
        for (column, &count) in counts.iter().enumerate() {
            let share = if total > 0.0 { count / total } else { 0.0 };
            let (x, y) = (column as f64, row as f64);
            let color = |full: u8| (255.0 - share * f64::from(255 - full)).round() as u8;
            let fill = RGBColor(color(8), color(48), color(107));
            chart.draw_series([Rectangle::new([(x, y), (x + 1.0, y + 1.0)], fill.filled())])?;
            if has_numbers {
                let ink = if share > 0.5 { WHITE } else { BLACK };
                let size = (PANEL / (3 * n as u32).max(12)).clamp(8, 20);
                let style = ("sans-serif", size).into_font().color(&ink).pos(Pos::new(HPos::Center, VPos::Center));
                chart.draw_series([Text::new(number(count), (x + 0.5, y + 0.5), style)])?;
            }
        }
    }
    let plane = chart.plotting_area();
    let size = (PANEL / (3 * n as u32).max(12)).clamp(8, 13);
    for at in 0..n {
        let middle = at as f64 + 0.5;
        let below = plane.map_coordinate(&(middle, n as f64));
        let beside = plane.map_coordinate(&(0.0, middle));
        let style = |h, v| ("sans-serif", size).into_font().color(&BLACK).pos(Pos::new(h, v));
        // In the pixels of the whole picture, of which this panel is the first.
        let (left, top) = area.get_base_pixel();
        let below = (below.0 - left, below.1 - top + 4);
        let beside = (beside.0 - left - 6, beside.1 - top);
        area.draw(&Text::new(x_name(&(at as f64)), below, style(HPos::Center, VPos::Top)))?;
        area.draw(&Text::new(y_name(&(at as f64)), beside, style(HPos::Right, VPos::Center)))?;
    }
    Ok(())
}

/// A number of samples, or a weight.
fn number(count: f64) -> String {
    if count.fract() == 0.0 { format!("{count}") } else { format!("{count:.2}") }
}

fn shortened(name: &str) -> String {
    const MOST: usize = 14;
    if name.chars().count() <= MOST {
        return name.to_owned();
    }
    name.chars().take(MOST - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use widemargin::data::Label;

    use super::*;

    #[test]
    fn the_picture_has_the_counts_and_the_curves() {
        let labels = vec![Label::from("no"), Label::from("a <name> that is too long")];
        let confusion = ConfusionMatrix { labels, counts: vec![vec![41.0, 7.0], vec![3.5, 0.0]] };
        let ranking = Ranking::new([(1.0, true, 1.0), (0.5, false, 1.0), (0.2, true, 1.0), (0.1, false, 1.0)]);
        let text = draw("a model", &confusion, Some(&ranking)).unwrap();
        for told in ["41", "3.50", "area 0.7500", "recall", "a &lt;name&gt; that…", "a model"] {
            assert!(text.contains(told), "{told} is not in {text}");
        }
        assert!(!draw("a model", &confusion, None).unwrap().contains("ROC"));
        assert!(check_name(Path::new("a.png")).unwrap_err().message.contains("SVG"));
    }

    #[test]
    fn precision_holds_back_to_the_recall_before() {
        let points = in_steps(&[(0.0, 1.0), (0.5, 1.0), (1.0, 0.6)]);
        assert_eq!(points, [(0.0, 1.0), (0.0, 1.0), (0.5, 1.0), (0.5, 0.6), (1.0, 0.6)]);
    }
}
