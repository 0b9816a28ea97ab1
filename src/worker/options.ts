/** The options of a worker. Options that the caller does not set are read from the environment. */
import type { NativeConnection } from '@temporalio/worker';
import type { FaultPoint } from '../activities/base/dependencies.ts';
import type { Configuration } from '../configuration.ts';
import type { Registry } from '../core/author/registry.ts';
import type { ThreadStore } from '../store/store.ts';
import type { EventListener } from '../store/transaction/event-record.ts';
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
  /** False: the program handles SIGTERM and SIGINT itself and calls `shutdown`. Otherwise they shut the worker down. */
  readonly signals?: boolean;
  /** Receives, while the worker is being created, a description of each step for people: "opening its store". */
  readonly onStep?: (step: string) => void;
  /** Receives the events of the worker's threads; used only by our own programs. @internal */
  readonly listener?: EventListener;
  /** For a process under supervision; used only by our own programs. @internal */
  readonly supervision?: WorkerSupervision;
  /** Only for fault tests. @internal */
  readonly probe?: (point: FaultPoint) => void | Promise<void>;
}
