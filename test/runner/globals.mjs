/** What tests import from `@jest/globals`; of `jest` they use the one function that is here. */
import { jestExpect } from '@jest/expect';

export { afterAll, afterEach, beforeAll, beforeEach, describe, it, test } from 'jest-circus';
export const expect = jestExpect;
export const jest = {
  /** In milliseconds, for all tests of the file. */
  setTimeout(timeout) {
    globalThis[Symbol.for('TEST_TIMEOUT_SYMBOL')] = timeout;
  },
};
