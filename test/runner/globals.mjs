/** Stands in for `@jest/globals`; of `jest`, tests use only the function that is here. */
import { jestExpect } from '@jest/expect';

export { afterAll, afterEach, beforeAll, beforeEach, describe, it, test } from 'jest-circus';
export const expect = jestExpect;
export const jest = {
  /** Sets the timeout in milliseconds for all tests of the file. */
  setTimeout(timeout) {
    globalThis[Symbol.for('TEST_TIMEOUT_SYMBOL')] = timeout;
  },
};
