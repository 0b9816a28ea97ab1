/**
 * A text that says what an activity is doing: its heartbeats carry it, and the Web UI shows it beside the running
 * activity.
 */
import { Context } from '@temporalio/activity';

const progressTexts = new WeakMap<Context, string>();

export function showProgress(words: string): void {
  progressTexts.set(Context.current(), words);
}

/** The text for the next heartbeat, which replaces the text of the previous one. */
export function progressOf(context: Context): string | undefined {
  return progressTexts.get(context);
}
