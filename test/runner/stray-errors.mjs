/**
 * Makes errors that are thrown or rejected outside of any awaited test fail the file, and the test that they came from
 * if it is known. Circus records such errors; this adds what it lacks for rejections and for tests that are already
 * reported:
 * E1. A rejection that is unhandled when its test or hook ends fails that test; one that belongs to no test fails the
 *     file.
 * E2. An error from a test of an earlier file fails the file that runs when it arrives: its own is already reported.
 * E3. An error between two files fails the later file; one after the last file fails the run.
 */
import { setImmediate } from 'node:timers/promises';
import { addEventHandler } from 'jest-circus';

addEventHandler(async (event, state) => {
  if (event.name === 'error') claim(event, state);
  else if (event.name === 'test_done') fail(event.test, take(event.test.unhandledRejectionErrorByPromise));
  else if (event.name === 'run_finish') {
    // Node reports rejections after the microtasks in which the last test may have ended.
    await setImmediate();
    sweep(state);
  }
});

const between = [];
const note = (error) => void between.push(error);

/** E3. While a file runs, circus replaces these listeners by its own. */
export function listenBetweenFiles() {
  process.on('uncaughtException', note).on('unhandledRejection', note);
  return {
    heard: () => between.splice(0),
    async end() {
      await setImmediate();
      process.off('uncaughtException', note).off('unhandledRejection', note);
      if (between.length > 0) throw new AggregateError(between.splice(0), 'Thrown after the last test file.');
    },
  };
}

/** E2. Circus has assigned the error to the test or hook whose async context it came from. */
function claim({ error, promise }, state) {
  const tests = testsOf(state.rootDescribeBlock);
  if (!promise) {
    const owned = state.unhandledErrors.includes(error) || tests.some(({ errors }) => errors.includes(error));
    if (!owned) state.unhandledErrors.push(error);
    return;
  }
  const noted = state.unhandledRejectionErrorByPromiseTarget.get(promise);
  const own = [
    state.unhandledRejectionErrorByPromise,
    ...tests.map((test) => test.unhandledRejectionErrorByPromise),
    ...hooksOf(state.rootDescribeBlock).map((hook) => rejectionsOf(hook, state)),
  ];
  if (own.includes(noted)) return;
  noted?.delete(promise);
  state.unhandledErrors.push(error);
}

/** E1, for rejections that arrived after their test or hook had ended. */
function sweep(state) {
  for (const test of testsOf(state.rootDescribeBlock))
    fail(test, take(test.unhandledRejectionErrorByPromise));
  for (const hook of hooksOf(state.rootDescribeBlock)) {
    const errors = take(rejectionsOf(hook, state));
    if (hook.type === 'beforeAll') for (const test of testsOf(hook.parent)) fail(test, errors);
    else state.unhandledErrors.push(...errors.map((error) => [error, hook.asyncError]));
  }
  state.unhandledErrors.push(...take(state.unhandledRejectionErrorByPromise));
}

const rejectionsOf = (hook, state) => state.unhandledRejectionErrorByPromiseByHook.get(hook);

function take(rejections) {
  const errors = [...(rejections?.values() ?? [])];
  rejections?.clear();
  return errors;
}

const fail = (test, errors) => test.errors.push(...errors.map((error) => [error, test.asyncError]));

const testsOf = (block) =>
  block.children.flatMap((child) => (child.type === 'describeBlock' ? testsOf(child) : [child]));

const hooksOf = (block) => [
  ...block.hooks,
  ...block.children.flatMap((child) => (child.type === 'describeBlock' ? hooksOf(child) : [])),
];
