// Notes about objects of others, such as a request, its response or a record, that live no longer
// than the object. They are private fields of it, and not in a WeakMap: V8 keeps the values of a
// long-lived WeakMap through every collection of young objects, and so all of a request that they
// refer to, until the next full collection.

/** A constructor that returns what it is given: the fields of its subclass are added to that. */
class Given {
  constructor(object: object) {
    // biome-ignore lint/correctness/noConstructorReturn: this adds private fields to objects of others
    return object;
  }
}

/** Notes about objects, one for each. */
export interface PrivateField<K extends object, V> {
  /** The note about an object; undefined when there is none. */
  get(object: K): V | undefined;
  set(object: K, value: V): void;
}

/**
 * Makes a private field. It is slower to read than a WeakMap, whose place it takes where objects
 * end with their request. Not for frozen objects, which newer engines give none.
 */
export function createPrivateField<K extends object, V>(): PrivateField<K, V> {
  return class Field extends Given {
    #value: V;
    constructor(object: K, value: V) {
      super(object);
      this.#value = value;
    }
    static get(object: K): V | undefined {
      return #value in object ? object.#value : undefined;
    }
    static set(object: K, value: V): void {
      if (#value in object) object.#value = value;
      else new Field(object, value);
    }
  };
}
