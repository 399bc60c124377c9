//! Possible problems with series and images.

/// A problem in a line of time series.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SeriesProblem {
    /// A missing value.
    #[error("value {position}{}: missing", of_channel(.channel))]
    Missing {
        /// The value's number in the line or the channel, from 1.
        position: usize,
        /// The channel's number, from 1, if there are several.
        channel: Option<usize>,
    },
    /// A value that is not a number, or not finite in single precision.
    #[error("value {position}{}: '{text}' is not a finite single-precision number", of_channel(.channel))]
    NotANumber {
        /// The value's number in the line or the channel, from 1.
        position: usize,
        /// The channel's number, from 1, if there are several.
        channel: Option<usize>,
        /// The text found there.
        text: String,
    },
    /// A series without values.
    #[error("no values")]
    NoValues,
    /// A missing label.
    #[error("label missing")]
    LabelMissing,
    /// Channels of one series with different lengths.
    #[error("channel {channel} has {found} values, channel 1 has {expected}")]
    ChannelLength {
        /// The channel's number, from 1.
        channel: usize,
        /// Its length.
        found: usize,
        /// The length of the first channel.
        expected: usize,
    },
    /// A different number of channels than in the previous lines, or than in the header.
    #[error("{found} channels, expected {expected}")]
    Channels {
        /// Channels of this line.
        found: usize,
        /// The expected number of channels.
        expected: usize,
    },
    /// An invalid line before `@data`.
    #[error("'{0}' is not of a .ts header: expected a line that starts with @")]
    Header(String),
    /// An unsupported feature announced by the header.
    #[error("{0} are not read")]
    Unread(&'static str),
    /// Bytes that are not UTF-8.
    #[error("not UTF-8 text")]
    NotText,
}

fn of_channel(channel: &Option<usize>) -> String {
    channel.map(|channel| format!(" of channel {channel}")).unwrap_or_default()
}

impl SeriesProblem {
    /// A suggested remedy, if there is one.
    pub fn help(&self) -> Option<&'static str> {
        match self {
            SeriesProblem::Missing { .. } => Some("interpolate it, or remove the series"),
            SeriesProblem::ChannelLength { .. } => {
                Some("the channels of a series are sampled together: cut or resample")
            }
            SeriesProblem::LabelMissing => Some("begin each line with a label and a tab, or pass --label none"),
            SeriesProblem::Header(_) => Some("if this is another format, name it with --format"),
            SeriesProblem::Unread(_) => Some("resample to even times and leave the times out"),
            _ => None,
        }
    }
}

/// A problem with an image or a collection of images.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ImageProblem {
    /// The decoder's message.
    #[error("cannot be decoded: {0}")]
    Undecodable(String),
    /// Images of different sizes.
    #[error("{} × {} pixels, but {as_in} has {} × {}", .found.0, .found.1, .expected.0, .expected.1)]
    Size {
        /// Width and height.
        found: (usize, usize),
        /// Width and height of the first image.
        expected: (usize, usize),
        /// The first image.
        as_in: String,
    },
    /// More pixels than fit in memory.
    #[error("{images} images of {size} bytes do not fit in memory")]
    TooLarge {
        /// Number of images.
        images: usize,
        /// Bytes per image.
        size: usize,
    },
    /// Images next to folders of images, or folders in class folders.
    #[error("{0}")]
    Layout(&'static str),
}

impl ImageProblem {
    /// A suggested remedy, if there is one.
    pub fn help(&self) -> Option<&'static str> {
        match self {
            ImageProblem::Size { .. } => Some("crop or resize all images to one size"),
            ImageProblem::Layout(_) => {
                Some("put the images of each class into a folder of its own, or all into one folder")
            }
            _ => None,
        }
    }
}
