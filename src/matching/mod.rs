//! Which generated unit answers which gold unit.
