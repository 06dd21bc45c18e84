// This is what is imported from a package that is stubbed. It is never called.
module.exports = {};
