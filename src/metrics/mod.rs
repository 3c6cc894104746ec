//! Precision, recall and F1 over paragraphs, and how much of the work they rest on.
