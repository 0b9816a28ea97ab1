/**
 * Runs test files of Jest in Node itself: its loader, its type stripping, its realm. Jest's own runner gives every file a realm and
 * loads every module anew in each, which here took as long as all tests of a file together. Tests, hooks, timeouts, reports and the
 * command line are those of Jest (jest-circus, expect).
 *
 * One process runs its files one after the other (`--runInBand`), and:
 * R1. Modules of `src` and of packages are loaded once: what they keep, they keep for all files of the process.
 * R2. Modules of `test` are loaded anew for each file, so that hooks which they register belong to it. Those of `test/once` are not.
 * R3. The environment variables are for each file what the global set-up has left.
 */
import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import { jestExpect } from '@jest/expect';
import { createEmptyTestResult } from '@jest/test-result';
import { getState, resetState, run } from 'jest-circus';
import { formatExecError, formatResultsErrors } from 'jest-message-util';
import * as globals from './globals.mjs';
import { nextFile, resolveForTests } from './resolve.mjs';

registerHooks({ resolve: resolveForTests });
Object.assign(globalThis, globals);

export default class NodeRunner {
  #globalConfig;

  constructor(globalConfig) {
    this.#globalConfig = globalConfig;
  }

  async runTests(tests, watcher, onStart, onResult, onFailure) {
    for (const test of tests) {
      if (watcher.isInterrupted()) return;
      await onStart(test);
      try {
        await onResult(test, await this.#runFile(test));
      } catch (error) {
        await onFailure(test, asSerializable(error));
      }
    }
  }

  async #runFile({ path, context }) {
    const environment = { ...process.env };
    const start = Date.now();
    this.#prepare(path, context.config);
    nextFile();
    try {
      await import(pathToFileURL(path).href);
      const loaded = Date.now();
      const result = toTestResult(await run(), path, context.config, this.#globalConfig);
      return { ...result, perfStats: perfStats(start, loaded) };
    } finally {
      tell({ name: 'teardown' });
      restoreEnvironment(environment);
    }
  }

  #prepare(testPath, { testTimeout }) {
    delete globalThis[TIMEOUT_OF_FILE];
    resetState();
    const state = getState();
    state.testTimeout = this.#globalConfig.testTimeout ?? testTimeout;
    tell({ name: 'setup', parentProcess: process, testNamePattern: this.#globalConfig.testNamePattern });
    jestExpect.setState({ testPath, expand: this.#globalConfig.expand });
  }
}

/** Where `jest.setTimeout` leaves its word for jest-circus. */
const TIMEOUT_OF_FILE = Symbol.for('TEST_TIMEOUT_SYMBOL');

/** Circus takes what was thrown outside of a test for its own from `setup` to `teardown`; it has no function to say them from outside. */
function tell(event) {
  for (const handler of globalThis[Symbol.for('EVENT_HANDLERS')]) handler(event, getState());
}

function restoreEnvironment(environment) {
  for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
  Object.assign(process.env, environment);
}

const STATUS = { skip: 'pending', todo: 'todo' };

function toTestResult(
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
  // The first is circus's own block around the file.
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

function perfStats(start, loaded) {
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

/** Anything can be thrown while a module loads. */
function asSerializable(error) {
  const { message, stack, code } = error instanceof Error ? error : new Error(String(error));
  return { message, stack, code, type: error?.type };
}
