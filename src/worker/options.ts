/** The options of a worker: those of the caller, and the environment where he gives none. */
import type { NativeConnection } from '@temporalio/worker';
import type { FaultPoint } from '../activities/base/dependencies.ts';
import type { Configuration } from '../configuration.ts';
import type { Registry } from '../core/author/definition.ts';
import type { EventListener, ThreadStore } from '../store/port/thread-store.ts';
import type { WorkerSupervision } from './supervision.ts';

export interface WorkerOptions {
  /** The folder that holds `agents/`. */
  readonly projectDir: string;
  /** Read from `TEMPORAL_*` when absent. */
  readonly connection?: NativeConnection;
  readonly namespace?: string;
  readonly taskQueue?: string;
  /** A store's address, as in `EVERTHREAD_STORE`, or an open store, which the caller closes. */
  readonly store?: string | ThreadStore;
  /** Definitions made in code, instead of those under `agents/`. */
  readonly registry?: Registry | (() => Registry);
  readonly configuration?: Partial<Configuration>;
  /** A built workflow bundle; bundled from the sources when absent. */
  readonly workflowBundle?: string;
  /** Warnings for people: a missing search attribute, a questionable definition. */
  readonly onWarning?: (warning: string) => void;
  /** False: SIGTERM and SIGINT are the program's own, which calls `shutdown`. Otherwise they shut the worker down. */
  readonly signals?: boolean;
  /** Reports the next step until the worker is made, for people: "opening its store". */
  readonly onStep?: (step: string) => void;
  /** Told of what its threads do, as events of their logs; used by our own programs alone. @internal */
  readonly listener?: EventListener;
  /** For a process under supervision; used by our own programs alone. @internal */
  readonly supervision?: WorkerSupervision;
  /** For fault tests alone. @internal */
  readonly probe?: (point: FaultPoint) => void | Promise<void>;
}
