const a = {};
