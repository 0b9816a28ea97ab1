/**
 * What is thrown or rejected where no test waits for it fails the file, and the test it came from where that is known.
 * Circus notes such errors; what it does with rejections, and with errors of tests that were reported before, is done here:
 * E1. A rejection that nobody has handled by the end of its test, or of its hook, fails it; one of no test fails the file.
 * E2. An error out of a test of an earlier file fails the file in which it is heard of: its own is reported already.
 * E3. What comes between two files fails the later one, and after the last of them the run.
 */
import { setImmediate } from 'node:timers/promises';
import { addEventHandler } from 'jest-circus';

addEventHandler(async (event, state) => {
  if (event.name === 'error') claim(event, state);
  else if (event.name === 'test_done') fail(event.test, take(event.test.unhandledRejectionErrorByPromise));
  else if (event.name === 'run_finish') {
    // Rejections are told after the microtasks in which the last test may have ended.
    await setImmediate();
    sweep(state);
  }
});

const between = [];
const note = (error) => void between.push(error);

/** E3. While a file runs, circus puts its own listeners in the place of these. */
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

/** E2. Circus has given it to the test or hook whose async context it came from. */
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

/** E1, for what came after its test or hook had ended. */
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
