/**
 * Sets the state of `expect` for each test: its name, and the number of assertions that it requires
 * (`expect.assertions`).
 */
import { jestExpect } from '@jest/expect';
import { addEventHandler } from 'jest-circus';

addEventHandler(({ name, test }) => {
  if (name === 'test_start') jestExpect.setState({ currentTestName: test.name, testFailing: test.failing });
  else if (name === 'test_done') {
    test.numPassingAsserts = jestExpect.getState().numPassingAsserts;
    test.errors.push(...jestExpect.extractExpectedAssertionsErrors().map(({ error }) => error));
  }
});
