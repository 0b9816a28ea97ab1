/** What a superseded part of a history has done, and the words in which a model is told of it. */
import { describePastCall, type PastCall } from './past-call.ts';

export interface SupersededRows {
  /** Rows of the log, both included; `to` is less than `from` if there are none. */
  readonly from: number;
  readonly to: number;
  readonly reason: 'regenerate' | 'edit';
  /** The user's message that is answered again. */
  readonly messageId: string;
  /** Number of the message's text, 2 after the first edit; absent unless it was edited. */
  readonly revision?: number;
  /** Number of messages, those of sub-prompts included. */
  readonly messages: number;
}

export interface SupersededPart {
  /** Calls that had begun, in order; the first 100. */
  readonly calls?: readonly PastCall[];
  /** Effects that were scheduled there and had not ended. */
  readonly effects?: readonly SupersededWork[];
  /** Children that were made or asked there and are alive. */
  readonly children?: readonly SupersededWork[];
  /** Keys of values, and paths of files, that were written there; the first 100 of each. */
  readonly values?: readonly string[];
  readonly files?: readonly string[];
  /** US dollars spent there on models. */
  readonly costUsd?: number;
  /** Ids of actions with unknown outcomes that the request acknowledged. */
  readonly acknowledged?: readonly string[];
}

export interface SupersededWork {
  readonly id: string;
  readonly name: string;
  readonly fate: 'ended' | 'kept';
}

/** Undefined if the part had no effects. */
export function describeSuperseded(part: SupersededPart): string | undefined {
  const { calls = [], effects = [], children = [], values = [], files = [] } = part;
  const lines = [
    ...calls.map((call) => `- ${describePastCall(call)}`),
    ...effects.map(({ name, fate }) => `- the effect "${name}" was scheduled and ${toFate(fate)}`),
    ...children.map(
      ({ id, name, fate }) => `- the subagent "${name}" (${id}) was started and ${toFate(fate)}`,
    ),
    ...(values.length > 0 ? [`- values written: ${values.join(', ')}`] : []),
    ...(files.length > 0 ? [`- files written: ${files.join(', ')}`] : []),
  ];
  if (lines.length === 0) return undefined;
  return `A part of this conversation was superseded. You do not see it, and what it did was not undone:\n${lines.join('\n')}`;
}

const toFate = (fate: SupersededWork['fate']): string => (fate === 'ended' ? 'was then ended' : 'goes on');
