/** The end of a child by its own hand: at once, whatever its threads are stuck in. */

export function die(): never {
  process.kill(process.pid, 'SIGKILL');
  // The first process of a namespace takes no signal from inside; a trap ends it all the same.
  process.abort();
}
