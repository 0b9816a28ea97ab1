/** Converts circus's results of a file to the form that Jest's reporters expect. */
import { createEmptyTestResult } from '@jest/test-result';
import { formatExecError, formatResultsErrors } from 'jest-message-util';

const STATUS = { skip: 'pending', todo: 'todo' };

export function toTestResult(
  { testResults, unhandledErrors, unhandledErrorsDetailed },
  testFilePath,
  config,
  globalConfig,
) {
  const results = testResults.map(toAssertionResult);
  const count = (status) => results.filter((result) => result.status === status).length;
  const messages = [
    formatResultsErrors(results, config, globalConfig, testFilePath),
    ...unhandledErrorsDetailed.map((error) => formatExecError(error, config, globalConfig)),
  ].filter(Boolean);
  return {
    ...createEmptyTestResult(),
    failureMessage: messages.length > 0 ? messages.join('\n\n') : null,
    numFailingTests: count('failed'),
    numPassingTests: count('passed'),
    numPendingTests: count('pending'),
    numTodoTests: count('todo'),
    testExecError:
      unhandledErrors.length > 0 ? { message: '', stack: unhandledErrors.join('\n') } : undefined,
    testFilePath,
    skipped: results.length > 0 && count('pending') === results.length,
    testResults: results,
  };
}

function toAssertionResult({
  testPath,
  status,
  errors,
  errorsDetailed,
  duration,
  invocations,
  location,
  numPassingAsserts,
  startedAt,
}) {
  // The first name is circus's root block of the file.
  const names = testPath.slice(1);
  return {
    ancestorTitles: names.slice(0, -1),
    title: names.at(-1),
    fullName: names.join(' '),
    status: STATUS[status] ?? (errors.length > 0 ? 'failed' : 'passed'),
    failureMessages: errors,
    failureDetails: errorsDetailed,
    duration,
    invocations,
    location,
    numPassingAsserts,
    startAt: startedAt,
    retryReasons: [],
  };
}

export function perfStats(start, loaded) {
  const end = Date.now();
  return {
    start,
    end,
    runtime: end - start,
    slow: false,
    loadTestEnvironmentStart: start,
    loadTestEnvironmentEnd: loaded,
  };
}

/** Any value can be thrown while a module loads, not only errors. */
export function asSerializable(error) {
  const { message, stack, code } = error instanceof Error ? error : new Error(String(error));
  return { message, stack, code, type: error?.type };
}
