// The keys of an object type in Apollo Federation 2 (@key), as extensions that
// resolvers/federation/sdl.ts prints.

/** Extensions of an object type with these keys. Each key is one field. */
export const keyedBy = (...fields: readonly string[]) => ({
  directives: { key: fields.map((name) => ({ fields: name })) },
});
