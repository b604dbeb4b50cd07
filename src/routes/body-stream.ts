// An upstream body passed on as it comes. It must not know what is in it.

/** A body as a web stream. Not Readable.toWeb: that one, cancelled in the middle, throws where nobody can catch (Node 20). */
export function streamOf(body: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const chunks = body[Symbol.asyncIterator]();
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await chunks.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      },
      async cancel() {
        await chunks.return?.();
      },
    },
    // Nothing is begun before somebody reads: the answer to HEAD has a body that nobody will.
    { highWaterMark: 0 },
  );
}
