/** What a worker is made of: what the caller hands in, and what is read from the environment where it does not. */
import type { NativeConnection } from '@temporalio/worker';
import type { FaultPoint } from '../activities/base/dependencies.ts';
import type { Configuration } from '../configuration.ts';
import type { Registry } from '../core/definition.ts';
import type { ThreadStore } from '../store/port/thread-store.ts';
import type { WorkerSupervision } from './supervision.ts';

export interface WorkerOptions {
  /** The folder that holds `agents/`. */
  readonly projectDir: string;
  /** Made from `TEMPORAL_*` when absent. */
  readonly connection?: NativeConnection;
  readonly namespace?: string;
  readonly taskQueue?: string;
  /** A store's address, as in `EVERTHREAD_STORE`, or an open store, which the caller closes. */
  readonly store?: string | ThreadStore;
  /** Definitions made in code, instead of those under `agents/`. */
  readonly registry?: Registry | (() => Registry);
  readonly configuration?: Partial<Configuration>;
  /** A built workflow bundle; made from the sources when absent. */
  readonly workflowBundle?: string;
  /** Warnings for people: a missing search attribute, a questionable definition. */
  readonly onWarning?: (warning: string) => void;
  /** What comes next until the worker is made, for people: "opening its store". */
  readonly onStep?: (step: string) => void;
  /** Of a process that somebody watches and starts again; ours alone. */
  readonly supervision?: WorkerSupervision;
  /** For fault tests alone. */
  readonly probe?: (point: FaultPoint) => void | Promise<void>;
}
