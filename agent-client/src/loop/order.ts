/** Runs works as they may be: reads beside each other, a write alone and in its place. */
export function createOrder() {
  let lastWrite: Promise<unknown> = Promise.resolve();
  let reads: Promise<unknown>[] = [];
  return function inOrder<T>(isRead: boolean, work: () => Promise<T>): Promise<T> {
    if (isRead) {
      const read = lastWrite.then(work);
      reads.push(read.catch(() => {}));
      return read;
    }
    const write = Promise.all([lastWrite, ...reads]).then(work);
    lastWrite = write.catch(() => {});
    reads = [];
    return write;
  };
}
