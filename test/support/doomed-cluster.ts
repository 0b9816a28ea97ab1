/**
 * Workers that die at named places of threads' lives. `together`: threads stand at all places at once when their one worker is
 * killed, and another takes over. `each`: for each place a worker dies in the very instant in which its thread comes by, beside
 * another one; that takes a worker process for every place.
 */
import { hangs, type RecordedRequest } from '../../src/testing/index.ts';
import { eventually } from './eventually.ts';
import { type Cluster, type ClusterOptions, startCluster } from './fault-cluster.ts';
import { type DeathPoint, faultScript, hasStayed, orderStay } from './fault-project.ts';

export type Manner = 'together' | 'each';

export interface Doom {
  readonly point: DeathPoint;
  /** The first message of a thread of its own. */
  readonly content: string;
  /** The order is given as a watched request comes, where other parts of the thread come by the same place before. */
  readonly late?: boolean;
  /** What must have come to pass of it before it is given the message `next`, with which it comes by the place. */
  readonly before?: (thread: string, cluster: Cluster) => Promise<unknown>;
  readonly next?: (thread: string, cluster: Cluster) => Promise<string>;
  /** What must have come to pass of it before the worker dies. */
  readonly once?: (thread: string, cluster: Cluster) => Promise<unknown>;
  /** What goes on without it while it stands at its place: were that not over, the kill would meet it as well. */
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
  /** The thread whose worker died so. */
  threadOf(doom: Doom): Promise<string>;
  close(): Promise<void>;
}

/** Nobody who stands at his place may be taken for lost before the kill, however busy the machine. */
const PATIENT = { modelHeartbeatMs: 4000, toolHeartbeatMs: 4000 };

export async function startDoomed(options: DoomedOptions): Promise<DoomedCluster> {
  const { manner, dooms, isWatched = () => false } = options;
  const script = faultScript();
  let whenWatched: (() => Doom) | undefined;
  const cluster = await startCluster({
    script: (request, index) => {
      const { point } = (isWatched(request) && whenWatched?.()) || {};
      // An answer is not held up by whoever hears of it.
      return manner === 'together' && point === 'model_streaming'
        ? hangs({ after: 'Once upon a time' })
        : script(request, index);
    },
    configuration: { ...(manner === 'together' ? PATIENT : {}), ...options.configuration },
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
  /** Gives the order, and the thread the message with which it comes by. */
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
