/**
 * Runs Jest test files directly in Node, with its loader, its type stripping and its realm. Jest's own runner creates a
 * realm per file and loads every module again in each, which took as long here as all tests of a file together. Tests,
 * hooks, timeouts, reports and the command line are Jest's (jest-circus, expect).
 *
 * One process runs its files one after the other (`--runInBand`):
 * R1. Modules of `src` and of packages are loaded once: their state is shared by all files of the process.
 * R2. Modules of `test` are loaded again for each file, so that hooks which they register belong to it. Those of
 *     `test/once` are loaded once.
 * R3. Each file starts with the environment variables that the global set-up has left. A file fails if it leaves
 *     anything else behind in the process (`left-behind.mjs`), or if an error is thrown that no test waits for
 *     (`stray-errors.mjs`).
 * R4. Several processes may share one list of files (`claim.mjs`).
 */
import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import { jestExpect } from '@jest/expect';
import { getState, resetState, run } from 'jest-circus';
import * as globals from './globals.mjs';
import './expectations.mjs';
import { claim } from './claim.mjs';
import { countCost } from './cost.mjs';
import { watchProcess } from './left-behind.mjs';
import { nextFile, resolveForTests } from './resolve.mjs';
import { listenBetweenFiles } from './stray-errors.mjs';
import { asSerializable, perfStats, toTestResult } from './test-result.mjs';

registerHooks({ resolve: resolveForTests });
Object.assign(globalThis, globals);

export default class NodeRunner {
  #globalConfig;

  constructor(globalConfig) {
    this.#globalConfig = globalConfig;
  }

  async runTests(tests, watcher, onStart, onResult, onFailure) {
    const between = listenBetweenFiles();
    for (const test of tests) {
      if (watcher.isInterrupted()) break;
      if (!claim(test.path)) continue;
      await onStart(test);
      try {
        await onResult(test, await this.#runFile(test, between.heard()));
      } catch (error) {
        await onFailure(test, asSerializable(error));
      }
    }
    await between.end();
  }

  async #runFile({ path, context }, strayErrors) {
    const environment = { ...process.env };
    const start = Date.now();
    const tellCost = countCost(path);
    const ended = () => tellEarlyEnd(path);
    process.on('exit', ended);
    this.#prepare(path, context.config);
    getState().unhandledErrors.push(...strayErrors);
    const watched = watchProcess();
    let left;
    try {
      nextFile();
      await import(pathToFileURL(path).href);
      const loaded = Date.now();
      watched.loaded();
      const results = await run();
      left = watched.restore();
      if (left.length > 0) addUnhandled(results, new Error(`The file has left behind: ${left.join(', ')}.`));
      const result = toTestResult(results, path, context.config, this.#globalConfig);
      const times = perfStats(start, loaded);
      tellCost(times, result.numPassingTests);
      return { ...result, perfStats: times };
    } finally {
      left ?? watched.restore();
      tell({ name: 'teardown' });
      restoreEnvironment(environment);
      process.off('exit', ended);
    }
  }

  #prepare(testPath, { testTimeout }) {
    delete globalThis[TIMEOUT_OF_FILE];
    resetState();
    const state = getState();
    const { maxConcurrency, expand, testNamePattern } = this.#globalConfig;
    Object.assign(state, { maxConcurrency, expand });
    state.testTimeout = this.#globalConfig.testTimeout ?? testTimeout ?? state.testTimeout;
    tell({ name: 'setup', parentProcess: process, testNamePattern });
    jestExpect.setState({ testPath, expand });
  }
}

/**
 * Reports a failure if the process ends while a file runs: because the file ended it, or waits for something that can
 * no longer happen.
 */
function tellEarlyEnd(path) {
  process.stderr.write(`The process has ended while ${path} ran.\n`);
  process.exitCode ||= 1;
}

function addUnhandled({ unhandledErrors, unhandledErrorsDetailed }, error) {
  unhandledErrors.push(error.message);
  unhandledErrorsDetailed.push(error);
}

/** Key under which `jest.setTimeout` passes the timeout to jest-circus. */
const TIMEOUT_OF_FILE = Symbol.for('TEST_TIMEOUT_SYMBOL');

/**
 * Sends an event to circus's handlers, which circus has no function for. From `setup` to `teardown` circus handles
 * errors that are thrown outside of tests.
 */
function tell(event) {
  for (const handler of globalThis[Symbol.for('EVENT_HANDLERS')]) handler(event, getState());
}

function restoreEnvironment(environment) {
  for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
  Object.assign(process.env, environment);
}
