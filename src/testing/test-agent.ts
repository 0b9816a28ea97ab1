/**
 * `testAgent`: runs an agent of a project on a real engine, with scripted models. Dependencies are loaded on the first
 * call: some projects import this entry only for its scripted models, also on machines without Temporal.
 */
import type { RuntimeClient } from '../client/runtime-client.ts';
import type { Registry } from '../core/author/registry.ts';
import { closeWithTests } from './close-with-tests.ts';
import type { RecordedRequest } from './script.ts';
import type { ScriptedModel } from './scripted-model.ts';
import type { TestScripts } from './test-project.ts';
import type { TestThread, TestThreadOptions } from './test-thread.ts';

export interface TestAgentOptions extends TestThreadOptions {
  /** The folder that holds `agents/`, or definitions made in code (`registryFrom`). Default: the working directory. */
  readonly project?: string | URL | Registry;
  /** The models' answers: one script for all, or scripts by model name; models that are not named stay unchanged. */
  readonly script: TestScripts;
  /** True if `close` must not fail when steps of a script are left. */
  readonly allowUnused?: boolean;
  /** Milliseconds after which a method that waits throws `Timeout`. Default: 60,000. */
  readonly timeoutMs?: number;
}

/** An agent under test, with its first thread. */
export interface TestAgent extends TestThread {
  /** Client for everything else that a test does. Closed with the agent. */
  readonly client: RuntimeClient;
  /** Requests to the scripted models: model by model, each model's in order of arrival. */
  readonly requests: readonly RecordedRequest[];
  /** Starts another thread, by default with the first one's options. Throws as `RuntimeClient.startThread`. */
  startThread(options?: TestThreadOptions): Promise<TestThread>;
  /**
   * Terminates the agent's threads and closes worker, client and store. Throws if steps of a script are left, unless
   * `allowUnused` is set. Idempotent. Node's test runner calls it, without failing, behind all tests of the file.
   */
  close(): Promise<void>;
  /**
   * Closes the agent at the end of an `await using` block, also after a failed test. Steps that are left are then only
   * reported on standard error: an error thrown here would hide the test's own. To make them fail the test, end it with
   * `await agent.close()`.
   */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Opens an agent for a test: a thread on a real Temporal server, a worker in this process, a store in a temporary
 * folder, and models that follow the script. The server is the one of `TEMPORAL_ADDRESS`, of the project's `everthread
 * dev`, or at 127.0.0.1:7233; if there is none, a temporary one, which all test agents of the process share. Throws
 * `InvalidDefinitions` with every problem of the project, `AgentNotFound`, `DefinitionNotFound` (`script` names an
 * unknown model), `TemporalUnavailable`, and as `RuntimeClient.startThread`; nothing is left open in that case.
 * @example
 * ```ts
 * await using agent = await testAgent({ project: '.', script: [calls('calculate', { left: 6, operator: '*', right: 7 }), says('It is 42.')] });
 * const { content, toolCalls } = await agent.sendMessage('How much is 6 * 7?');
 * console.log(content, toolCalls[0]?.result); // It is 42. 6 * 7 = 42
 * ```
 */
export async function testAgent(options: TestAgentOptions): Promise<TestAgent> {
  const { openTestProject, withScripts, chooseAgent } = await import('./test-project.ts');
  const { openTestEngine } = await import('./test-engine.ts');
  const { startTestThread } = await import('./test-thread.ts');
  const { project, script, allowUnused = false, timeoutMs = 60_000, ...first } = options;
  const { folder, registry: written } = await openTestProject(project);
  const { registry, models } = withScripts(written, script);
  const { agent: _named, ...terms } = first;
  const agent = chooseAgent(registry, first.agent);
  const engine = await openTestEngine({ folder, registry });
  const start = ({ agent: other = agent, ...given }: TestThreadOptions = {}) =>
    startTestThread(engine, { agent: chooseAgent(registry, other), timeoutMs }, { ...terms, ...given });
  try {
    const thread = await start();
    let closed = false;
    const end = async (report: (error: Error) => void) => {
      if (closed) return;
      closed = true;
      isClosed();
      await engine.close();
      const unused = allowUnused ? undefined : findUnused(models);
      if (unused) report(unused);
    };
    const report = ({ message }: Error) => void process.stderr.write(`${message}\n`);
    const isClosed = closeWithTests(() => end(report));
    return {
      ...thread,
      client: engine.client,
      get requests() {
        return models.flatMap(({ requests }) => requests);
      },
      startThread: start,
      close: () => end(fail),
      [Symbol.asyncDispose]: () => end(report),
    };
  } catch (error) {
    await engine.close().catch(() => undefined);
    throw error;
  }
}

function fail(error: Error): never {
  throw error;
}

function findUnused(models: readonly ScriptedModel[]): Error | undefined {
  try {
    for (const model of models) model.assertConsumed();
    return undefined;
  } catch (error) {
    return error as Error;
  }
}
