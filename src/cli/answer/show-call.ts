/** `everthread threads tool … --unanswered --wait`: one tool call without a model, and its outcome. */
import type { CalledTool, ToolToCall } from '../../client/call-tool.ts';
import type { CommonOptions, WaitOptions } from '../command.ts';
import { withClient } from '../connection/open-client.ts';
import { EXIT, printFailure } from '../exit.ts';
import { printJson, printLine } from '../output/output.ts';
import { escapeControls } from '../output/terminal-text.ts';
import { printWaits } from './print-waits.ts';

type Options = CommonOptions & Pick<WaitOptions, 'timeout'> & { readonly taskQueue?: string };

const NO_TIMEOUT = Number.POSITIVE_INFINITY;

/** Returns 0 if the call is done or waits for people, 1 if it failed. */
export async function showCall(threadId: string, tool: ToolToCall, options: Options): Promise<number> {
  const { timeout, json } = options;
  return withClient(options, async (client) => {
    const timeoutMs = timeout === undefined ? NO_TIMEOUT : timeout * 1000;
    const called = await client.callTool(threadId, tool, { timeoutMs });
    if (json) printJson({ threadId, ...called });
    else printCall(called);
    return called.status === 'error' ? EXIT.failed : EXIT.done;
  });
}

function printCall({ status, content, code = 'Failed', waits = [] }: CalledTool): void {
  if (status === 'success') printLine(escapeControls(content ?? ''));
  else if (status === 'error') printFailure(code, content ?? 'The call has no result.');
  else printWaits(waits);
}
