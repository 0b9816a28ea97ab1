/** `everthread threads tool … --unanswered --wait`: one call of a tool without a model, and what came of it. */
import type { CalledTool, ToolToCall } from '../../client/call-tool.ts';
import type { CommonOptions, WaitOptions } from '../command.ts';
import { withClient } from '../connection/open-client.ts';
import { EXIT, tellFailure } from '../exit.ts';
import { printJson, printLine } from '../output/output.ts';
import { visible } from '../output/terminal-text.ts';
import { tellWaits } from './tell-waits.ts';

type Options = CommonOptions & Pick<WaitOptions, 'timeout'> & { readonly taskQueue?: string };

const FOR_EVER = Number.POSITIVE_INFINITY;

/** 0 where it is done, or waits for people; 1 where it is not. */
export async function showCall(threadId: string, tool: ToolToCall, options: Options): Promise<number> {
  const { timeout, json } = options;
  return withClient(options, async (client) => {
    const timeoutMs = timeout === undefined ? FOR_EVER : timeout * 1000;
    const called = await client.callTool(threadId, tool, { timeoutMs });
    if (json) printJson({ threadId, ...called });
    else show(called);
    return called.status === 'error' ? EXIT.failed : EXIT.done;
  });
}

function show({ status, content, code = 'Failed', waits = [] }: CalledTool): void {
  if (status === 'success') printLine(visible(content ?? ''));
  else if (status === 'error') tellFailure(code, content ?? 'The call has no result.');
  else tellWaits(waits);
}
