/**
 * `testAgent`: an agent of a project on a real engine, whose models follow a script. What it needs is loaded when it is asked for: projects
 * import this entry for their scripted models, also where there is no Temporal.
 */
import type { RuntimeClient } from '../client/runtime-client.ts';
import type { Registry } from '../core/author/definition.ts';
import type { RecordedRequest } from './script.ts';
import type { ScriptedModel } from './scripted-model.ts';
import type { TestScripts } from './test-project.ts';
import type { TestThread, TestThreadOptions } from './test-thread.ts';

export interface TestAgentOptions extends TestThreadOptions {
  /** The folder that holds `agents/`, or definitions made in code (`registryFrom`). The working directory unless given. */
  readonly project?: string | URL | Registry;
  /** What the models answer: one script for all of them, or scripts by the names of models; those that are not named stay as they are. */
  readonly script: TestScripts;
  /** Steps that no request has used do not fail `close`. */
  readonly allowUnused?: boolean;
  /** Milliseconds that one wait may take until `Timeout`; 60,000 unless given. */
  readonly timeoutMs?: number;
}

/** An agent under test, with a thread of its own. */
export interface TestAgent extends TestThread {
  /** For whatever a test wants to do beside it. Closed with the agent. */
  readonly client: RuntimeClient;
  /** What the scripted models were asked, each one's in order of arrival. */
  readonly requests: readonly RecordedRequest[];
  /** Another thread, as the first one unless the options say otherwise. Throws as `RuntimeClient.startThread`. */
  startThread(options?: TestThreadOptions): Promise<TestThread>;
  /**
   * Ends its threads and closes worker, client and store. Throws where steps of a script are left, unless `allowUnused`. The second time
   * it does nothing.
   */
  close(): Promise<void>;
  /**
   * `await using` closes it as well, also after a failed test. Steps that are left are only told on standard error then: an error of this
   * end would hide the test's own. Where they are to fail the test, its last line is `await agent.close()`.
   */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Opens an agent for a test: a thread on a real Temporal server, a worker in this process, a store in a temporary folder, and models that follow
 * the script. The server is that of `TEMPORAL_ADDRESS`, that of the project's `everthread dev`, one at 127.0.0.1:7233, or else a temporary one, which
 * all test agents of the process share. Throws `InvalidDefinitions` with every problem of the project, `AgentNotFound`, `DefinitionNotFound`
 * (a model that it does not have), `TemporalUnavailable`, and as `RuntimeClient.startThread`; nothing is left open then.
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
    const end = async (tell: (error: Error) => void) => {
      if (closed) return;
      closed = true;
      await engine.close();
      const unused = allowUnused ? undefined : findUnused(models);
      if (unused) tell(unused);
    };
    return {
      ...thread,
      client: engine.client,
      get requests() {
        return models.flatMap(({ requests }) => requests);
      },
      startThread: start,
      close: () => end(fail),
      [Symbol.asyncDispose]: () => end(({ message }) => void process.stderr.write(`${message}\n`)),
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
