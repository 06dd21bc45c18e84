// Whatever is imported from a package that is stubbed. Never called.
module.exports = {};
