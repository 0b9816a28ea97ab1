/** Two workers, one of which dies at a named place of a thread's life. */
import type { RecordedRequest } from '../../src/testing/index.ts';
import { type Cluster, startCluster } from './fault-cluster.ts';
import { type DeathPoint, faultScript } from './fault-project.ts';

export interface DoomedCluster {
  readonly cluster: Cluster;
  /**
   * Starts a thread of which a worker dies; resolves with its id once one has. `late`: the order is given as a watched request
   * comes, where other parts of the thread come by the same place before.
   */
  beginWithDeath(content: string, point: DeathPoint, late: boolean): Promise<string>;
  close(): Promise<void>;
}

export async function startDoomed(isWatched: (request: RecordedRequest) => boolean): Promise<DoomedCluster> {
  const script = faultScript();
  let whenWatched: (() => void) | undefined;
  const cluster = await startCluster({
    script: (request, index) => {
      if (isWatched(request)) whenWatched?.();
      return script(request, index);
    },
  });
  await cluster.keep(2);
  return {
    cluster,
    async beginWithDeath(content, point, late) {
      const order = () => {
        whenWatched = undefined;
        cluster.orderDeath(point);
      };
      if (late) whenWatched = order;
      else order();
      const thread = await cluster.begin(content);
      await cluster.died(point);
      return thread;
    },
    close: () => cluster.close(),
  };
}
