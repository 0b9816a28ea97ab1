/** State of the projection between two rows. Plain JSON, as small as its open steps and calls. */
import type { ProviderUsage } from '../../core/message/provider.ts';
import type { RowMessage } from '../row-message.ts';

/** An open step, and its newest request. */
export interface OpenStep {
  readonly side?: 'b';
  readonly model?: string;
  /** When the request was sent. */
  readonly askedAt?: number;
  readonly answered?: {
    readonly at: number;
    readonly usage: ProviderUsage | null;
    readonly cost: number | null;
  };
}

export interface Story {
  /** Set for the row behind the end of an execution, which has said what the thread's status says. */
  readonly ended: boolean;
  /** Open steps by number. */
  readonly steps: Readonly<Record<number, OpenStep>>;
  /** Arguments of calls that were not told yet, by call id. */
  readonly arguments: Readonly<Record<string, string>>;
  /** When the bodies of open calls began, by call id. */
  readonly begun: Readonly<Record<string, number>>;
  /** The newest message: the row that refers to it follows. */
  readonly said: RowMessage | null;
}

/** Also at the begin of each execution, so that a story may begin there. */
export const BEGUN_STORY: Story = {
  ended: false,
  steps: {},
  arguments: {},
  begun: {},
  said: null,
};

export function without<T>(
  record: Readonly<Record<string, T>>,
  key: string | number,
): Readonly<Record<string, T>> {
  const { [key]: _, ...rest } = record;
  return rest;
}
