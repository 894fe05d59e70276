//! graph-emulator
