/**
 * A worker for tests in this process, and whose threads are whose. Its module is loaded once: a worker may serve the tests of several
 * files (`kept-workers.ts`).
 */
import { Context } from '@temporalio/activity';
import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import type { FaultPoint } from '../../src/activities/base/dependencies.ts';
import type { Configuration } from '../../src/configuration.ts';
import type { Registry } from '../../src/core/author/definition.ts';
import { WORKFLOW_ID_PREFIX } from '../../src/core/thread/start-input.ts';
import { registryFrom } from '../../src/definitions/index.ts';
import type { ListThreads } from '../../src/store/port/thread.ts';
import type { ThreadStore } from '../../src/store/port/thread-store.ts';
import { createWorker, type ThreadWorker } from '../../src/worker/index.ts';

/** What a test asks of a worker for its threads. */
export interface Duty {
  readonly registry: () => Registry;
  readonly probe?: (point: FaultPoint) => void | Promise<void>;
}

export interface WorkerTerms {
  readonly configuration: Partial<Configuration>;
  readonly workflowBundle?: string;
}

export interface Place {
  readonly store: ThreadStore;
  readonly taskQueue: string;
}

const NOTHING = registryFrom({ agents: [], prompts: [], models: [] });
/** Of threads whose test file is over, and of nobody's. */
const OVER: Duty = { registry: () => NOTHING };
const PAGE = 100;

export class TestWorker {
  readonly store: ThreadStore;
  readonly taskQueue: string;
  worker!: ThreadWorker;
  over = false;
  #duty: Duty;
  /** By workflow id. */
  readonly #duties = new Map<string, Duty>();
  readonly #ended = new Set<string>();
  #stop!: () => Promise<void>;
  #stopped: Promise<void> | undefined;

  private constructor({ store, taskQueue }: Place, duty: Duty) {
    this.store = store;
    this.taskQueue = taskQueue;
    this.#duty = duty;
  }

  static async start(terms: WorkerTerms, place: Place, duty: Duty): Promise<TestWorker> {
    const own = new TestWorker(place, duty);
    const connection = await NativeConnection.connect({ address: process.env.TEMPORAL_ADDRESS });
    own.worker = await createWorker({
      ...terms,
      ...place,
      // Those of the process are the lane's.
      signals: false,
      projectDir: process.cwd(),
      connection,
      registry: () => own.#dutyHere().registry(),
      probe: (point) => own.#dutyHere().probe?.(point),
    });
    const running = own.worker.run().finally(() => {
      own.over = true;
    });
    own.#stop = async () => {
      own.worker.shutdown();
      await running;
      await connection.close();
    };
    return own;
  }

  serve(duty: Duty): void {
    this.#duty = duty;
  }

  /** Resolves when it is gone. Safe to call twice. */
  stop(): Promise<void> {
    this.over = true;
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async endThreads(temporal: Client, started: ReadonlySet<string>): Promise<void> {
    if (this.over) return;
    const open = new Set([...started, ...(await this.#newThreads())].filter((id) => !this.#ended.has(id)));
    await Promise.all([...open].map((id) => this.#endThread(temporal, id)));
  }

  /** No thread that has ended here is asked for its registry any more: what is kept of their tests can go. */
  forgetTests(): void {
    for (const workflowId of this.#duties.keys()) this.#duties.set(workflowId, OVER);
    this.#duty = OVER;
  }

  /** Those that were made since the last time: the newest, up to a page on which there is none of them. */
  async #newThreads(): Promise<string[]> {
    const found: string[] = [];
    for (let before: ListThreads['before']; ; ) {
      const page = await this.store.threads.list({ order: 'created', limit: PAGE, before });
      const made = page.filter(({ id }) => !this.#ended.has(id));
      found.push(...made.map(({ id }) => id));
      before = page.at(-1);
      if (page.length < PAGE || made.length === 0) return found;
    }
  }

  async #endThread(temporal: Client, id: string): Promise<void> {
    const workflowId = `${WORKFLOW_ID_PREFIX}${id}`;
    this.#dutyOf(workflowId);
    this.#ended.add(id);
    await temporal.workflow
      .getHandle(workflowId)
      .terminate('the test is over')
      .catch((error) => {
        if (!(error instanceof WorkflowNotFoundError)) throw error;
      });
  }

  #dutyOf(workflowId: string): Duty {
    const known = this.#duties.get(workflowId);
    if (known) return known;
    this.#duties.set(workflowId, this.#duty);
    return this.#duty;
  }

  /** Of the thread whose activity asks; what asks outside of any is answered for the test that runs. */
  #dutyHere(): Duty {
    const workflowId = currentWorkflowId();
    return workflowId === undefined ? this.#duty : this.#dutyOf(workflowId);
  }
}

function currentWorkflowId(): string | undefined {
  try {
    return Context.current().info.workflowExecution?.workflowId;
  } catch {
    return undefined;
  }
}
