/**
 * Workers that are killed at named points of threads' lives. `together`: threads are held at all points at once when
 * their only worker is killed, and another takes over. `each`: for each point, a worker dies at the instant in which
 * its thread reaches it, while another worker runs; that takes a worker process per point.
 */
import { hangs, type RecordedRequest } from '../../src/testing/index.ts';
import { eventually } from './eventually.ts';
import { type Cluster, type ClusterOptions, startCluster } from './fault-cluster.ts';
import { type DeathPoint, faultScript, hasStayed, orderStay } from './fault-project.ts';

export type Manner = 'together' | 'each';

export interface Doom {
  readonly point: DeathPoint;
  /** The first message of the thread, which is used for this point only. */
  readonly content: string;
  /**
   * Gives the order only when a watched request arrives, because other parts of the thread pass the same point earlier.
   */
  readonly late?: boolean;
  /** Resolves once the thread may receive the message `next`, with which it reaches the point. */
  readonly before?: (thread: string, cluster: Cluster) => Promise<unknown>;
  readonly next?: (thread: string, cluster: Cluster) => Promise<string>;
  /** Resolves once the worker may die. */
  readonly once?: (thread: string, cluster: Cluster) => Promise<unknown>;
  /**
   * Work of the thread that continues while it is held: it must be over before the kill, which would interrupt it as
   * well.
   */
  readonly meanwhile?: (thread: string, cluster: Cluster) => Promise<unknown>;
}

export interface DoomedOptions {
  readonly manner: Manner;
  readonly dooms: readonly Doom[];
  readonly isWatched?: (request: RecordedRequest) => boolean;
  readonly configuration?: ClusterOptions['configuration'];
}

export interface DoomedCluster {
  readonly cluster: Cluster;
  /** Returns the thread whose worker died at this point. */
  threadOf(doom: Doom): Promise<string>;
  close(): Promise<void>;
}

export async function startDoomed(options: DoomedOptions): Promise<DoomedCluster> {
  const { manner, dooms, isWatched = () => false } = options;
  const script = faultScript();
  let whenWatched: (() => Doom) | undefined;
  const cluster = await startCluster({
    script: (request, index) => {
      const { point } = (isWatched(request) && whenWatched?.()) || {};
      // Holding the code that receives an answer does not hold the answer itself: the model must hang.
      return manner === 'together' && point === 'model_streaming'
        ? hangs({ after: 'Once upon a time' })
        : script(request, index);
    },
    configuration: options.configuration,
  });

  const give = (doom: Doom, order: (point: DeathPoint) => void) => {
    if (!doom.late) return order(doom.point);
    whenWatched = () => {
      whenWatched = undefined;
      order(doom.point);
      return doom;
    };
  };
  const prepare = async ({ content, before }: Doom) => {
    const thread = await cluster.begin(content);
    await before?.(thread, cluster);
    return thread;
  };
  /** Gives the order, then sends the thread the message with which it reaches the point. */
  const send = async (doom: Doom, prepared: string | undefined, order: (point: DeathPoint) => void) => {
    const thread = prepared ?? (doom.next ? await prepare(doom) : undefined);
    const message = thread && (await doom.next?.(thread, cluster));
    give(doom, order);
    if (!thread || !message) return cluster.begin(doom.content);
    await cluster.client.queueMessage(thread, { content: message });
    return thread;
  };

  const threads = new Map<Doom, string>();
  const standAndDie = async () => {
    await cluster.keep(1);
    const prepared = new Map<Doom, string>();
    const prepareOne = async (doom: Doom) => {
      if (doom.next) prepared.set(doom, await prepare(doom));
    };
    await Promise.all(dooms.map(prepareOne));
    for (const doom of dooms) {
      const thread = await send(doom, prepared.get(doom), (point) => orderStay(cluster.folder, point));
      await eventually(`a thread at ${doom.point}`, () => hasStayed(cluster.folder, doom.point));
      await doom.once?.(thread, cluster);
      await doom.meanwhile?.(thread, cluster);
      threads.set(doom, thread);
    }
    await cluster.workers[0]?.end('SIGKILL');
    await cluster.keep(1);
  };
  const dieOnce = async (doom: Doom) => {
    await cluster.keep(2);
    const order = (point: DeathPoint) => cluster.orderDeath(point);
    const thread = await (doom.once ? prepare(doom) : send(doom, undefined, order));
    if (doom.once) {
      await doom.once(thread, cluster);
      order(doom.point);
    }
    await cluster.died(doom.point);
    await cluster.keep(2);
    return thread;
  };

  if (manner === 'together')
    await standAndDie().catch(async (error) => {
      await cluster.close();
      throw error;
    });
  return {
    cluster,
    threadOf: async (doom) => threads.get(doom) ?? dieOnce(doom),
    close: () => cluster.close(),
  };
}
