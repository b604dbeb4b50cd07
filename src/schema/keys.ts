// How an object says by which of its fields other subgraphs of a federation may refer to it (Apollo Federation 2, @key). The
// printers of src/federation read it; it knows none of them.

/** Extensions of an object type that has these keys, each a field that every reference to it may carry. */
export const keyedBy = (...fields: readonly string[]) => ({
  directives: { key: fields.map((name) => ({ fields: name })) },
});
