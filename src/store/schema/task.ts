/** The tables of tasks and of the steps of their loops. What else there is of a task stands in the tables of threads, under `task/` and its id. */
import type { TaskEnd } from '../../core/task/control.ts';
import type { TaskSession } from '../../core/task/session.ts';
import type { Flag, Json } from './tables.ts';

export interface TaskTable {
  /** `task/` and its id. */
  thread_id: string;
  /** Of agents/tasks. */
  name: string;
  /** An AgentTaskSpec. */
  spec: Json;
  scenario_id: string | null;
  /** The hash of the manifest that it runs with; null where none names it. */
  manifest: string | null;
  status: 'running' | 'waiting' | TaskEnd;
  /** A TaskVerdict, once its loop knows how it ends. */
  verdict: Json | null;
  /** Its requirements as they stand, and what was answered by requirement. */
  requirements: Json;
  answers: Json;
  /** What must be known is looked at: people are `asked`, or it is over. */
  preflight: 'due' | 'asked' | 'over';
  /** Steps that are over. */
  steps: number;
  spent: number;
  /** Microseconds at work; `active_since` where it is at work now. */
  worked: number;
  active_since: number | null;
  /** TaskRuntimeErrors. */
  errors: Json;
  /** What `projectRunRecords` made of it. */
  records: Json | null;
  created_at: number;
  ended_at: number | null;
}

/** One turn of a task's loop: what it saw, what it decided, what became of that. */
export interface TaskStepTable {
  thread_id: string;
  step: number;
  state: Json;
  evals: Json;
  /** Of the state. */
  fingerprint: string;
  score: number | null;
  decision: Json | null;
  /** Of the action. */
  action: string | null;
  /** Of an act: `scheduled` until it begins. Null where nothing is to be done. */
  act: 'scheduled' | 'started' | 'over' | null;
  /** The attempt that holds it. */
  attempt: string | null;
  outcome: Json | null;
  /** It came to something good: what is chosen again is another action then. */
  ok: Flag;
  cost: number;
  started_at: number;
  act_started_at: number | null;
  ended_at: number | null;
}

/** Manifests that tasks have run with, by the hash of their content. */
export interface ManifestTable {
  hash: string;
  /** A ManifestDocument. */
  document: Json;
  created_at: number;
}

/** Sessions of backends, each with the task that has spoken in it last. */
export interface TaskSessionTable {
  /** Whose it is: an organisation, a user, or empty. */
  owner: string;
  id: string;
  /** The kind of the backend. */
  backend: string;
  status: TaskSession['status'];
  resume_token: string | null;
  created_at: number;
  updated_at: number;
}

export interface TaskTables {
  task_sessions: TaskSessionTable;
  manifests: ManifestTable;
  tasks: TaskTable;
  task_steps: TaskStepTable;
}
