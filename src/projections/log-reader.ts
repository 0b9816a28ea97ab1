/** The projection of each form in which a thread's log can be read, and the state that it begins with. */
import { projectTurns } from './agenticx/agenticx-projection.ts';
import { beginTurns } from './agenticx/agenticx-state.ts';
import type { FormEvents, LogForm } from './log-form.ts';
import type { Projection } from './projection.ts';
import { projectRun } from './run/run-projection.ts';
import { beginReading, type RunBegin } from './run/run-state.ts';
import { projectStory } from './story/story-projection.ts';
import { BEGUN_STORY } from './story/story-state.ts';
import { projectTangle } from './tangle/tangle-projection.ts';
import { beginTangle } from './tangle/tangle-state.ts';

export interface FormBegin extends RunBegin {
  readonly agentId?: string | undefined;
  /** True if the thread has a parent. */
  readonly subagent?: boolean;
}

export interface FormReader<State, Out> {
  readonly begin: (at: FormBegin) => State;
  readonly project: Projection<State, Out>;
  /** If true, the reading depends on whether the thread has a parent. */
  readonly ofFamily?: boolean;
  /** If true, its events have the ids of spans. */
  readonly ofTrace?: boolean;
  /** If true, a reader that has seen none of the removed pieces receives the whole text, too. */
  readonly tellsWhole?: boolean;
}

/** The state of a reading is known to its form alone. */
function form<State, Out>(reader: FormReader<State, Out>): FormReader<unknown, Out> {
  return reader as FormReader<unknown, Out>;
}

export const LOG_READERS: { readonly [Form in LogForm]: FormReader<unknown, FormEvents[Form]> } = {
  run: form({ begin: beginReading, project: projectRun, ofTrace: true }),
  agenticx: form({
    begin: ({ threadId, agentId, subagent = false }) =>
      beginTurns({
        agentId: agentId ?? (subagent ? threadId : undefined),
        // Whoever reads a turn under the name of an agent other than `meta` reads that of a subagent.
        subagent: subagent || (agentId !== undefined && agentId !== 'meta'),
      }),
    project: projectTurns,
    ofFamily: true,
    tellsWhole: true,
  }),
  story: form({ begin: () => BEGUN_STORY, project: projectStory }),
  tangle: form({ begin: ({ threadId }) => beginTangle(threadId), project: projectTangle, tellsWhole: true }),
};
