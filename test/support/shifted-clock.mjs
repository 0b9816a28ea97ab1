/**
 * Preloaded into a worker process (`--import`): shifts its `Date` ahead by the milliseconds in the file
 * EVERTHREAD_TEST_CLOCK, which may change at any time. The machine's clock is not set, and monotonic time is unchanged.
 */
import { readFileSync } from 'node:fs';

const RealDate = Date;
const path = process.env.EVERTHREAD_TEST_CLOCK;
let [offset, readAt] = [0, Number.NEGATIVE_INFINITY];

function shiftedNow() {
  if (performance.now() - readAt > 5) {
    readAt = performance.now();
    try {
      offset = Number(readFileSync(path, 'utf8')) || 0;
    } catch {
      // Before the first shift there is no file.
    }
  }
  return RealDate.now() + offset;
}

globalThis.Date = new Proxy(RealDate, {
  construct: (target, args, newTarget) =>
    Reflect.construct(target, args.length > 0 ? args : [shiftedNow()], newTarget),
  apply: () => new RealDate(shiftedNow()).toString(),
  get: (target, name, receiver) => (name === 'now' ? shiftedNow : Reflect.get(target, name, receiver)),
});
