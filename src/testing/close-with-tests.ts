/**
 * Closes what tests have left open once Node's test runner has run all tests of the file: a failed assertion skips the
 * `close()` behind it, and the open connections would keep the process of the tests running for ever.
 */
import { AsyncResource } from 'node:async_hooks';
import { after } from 'node:test';

const open = new Set<() => Promise<unknown>>();
/** Outside of any test: a hook registered within a test, or within another hook, would run at the end of that. */
const outside = new AsyncResource('everthread/testing');
let registered = false;

/** `close` is called unless the returned function was called before. Without the test runner, nothing is closed. */
export function closeWithTests(close: () => Promise<unknown>): () => void {
  open.add(close);
  if (!registered && isRunByTestRunner()) outside.runInAsyncScope(() => after(closeAll));
  registered = true;
  return () => void open.delete(close);
}

function isRunByTestRunner(): boolean {
  return process.env.NODE_TEST_CONTEXT !== undefined || process.execArgv.includes('--test');
}

async function closeAll(): Promise<void> {
  // The tests have failed already, or end without looking at what closing finds.
  for (const close of open) await close().catch(() => undefined);
}
