/** What an activity is at, in words: its heartbeats carry it, and the Web UI shows it beside the activity as long as it runs. */
import { Context } from '@temporalio/activity';

const shown = new WeakMap<Context, string>();

export function showProgress(words: string): void {
  shown.set(Context.current(), words);
}

/** Each heartbeat replaces what the one before has said. */
export function progressOf(context: Context): string | undefined {
  return shown.get(context);
}
