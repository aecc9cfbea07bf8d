const a = {
  ...existing,
  b: 1,
};
