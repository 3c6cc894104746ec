//! The templates that are part of the program.

/// The file name and the text of every embedded template.
pub(super) const TEMPLATES: [(&str, &str); 7] = [
    ("cleaning.md", include_str!("../../prompts/cleaning.md")),
    ("cot.md", include_str!("../../prompts/cot.md")),
    ("rating.md", include_str!("../../prompts/rating.md")),
    ("segmentation.md", include_str!("../../prompts/segmentation.md")),
    ("similarity.md", include_str!("../../prompts/similarity.md")),
    ("v1.md", include_str!("../../prompts/v1.md")),
    ("v2.md", include_str!("../../prompts/v2.md")),
];

/// The embedded exemplars.
pub(super) const SHOTS: &str = include_str!("../../prompts/shots.toml");

/// The name of the file of exemplars, in a folder of templates.
pub(super) const SHOTS_FILE: &str = "shots.toml";
