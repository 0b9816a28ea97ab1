/** The agent as a workflow. A long one continues as new, where the server suggests it, with the messages so far. */
import { TemporalProvider } from '@temporalio/ai-sdk/workflow';
import { continueAsNew, proxyActivities, workflowInfo } from '@temporalio/workflow';
import { generateText, tool } from 'ai';
import { z } from 'zod';

/**
 * The plugin's activities do not heartbeat, so the loss of a worker shows when this time is over. The plugin's own
 * default is ten minutes; a real model rarely allows less than this.
 */
const startToCloseTimeout = '30 seconds';
const { effect } = proxyActivities({ startToCloseTimeout });
const provider = new TemporalProvider({ languageModel: { startToCloseTimeout } });

export async function agent(messages) {
  const full = () => workflowInfo().continueAsNewSuggested;
  const { finishReason, responseMessages } = await generateText({
    model: provider.languageModel('double-1'),
    instructions: 'You are measured.',
    messages,
    tools: {
      effect: tool({
        description: 'Appends a line.',
        inputSchema: z.object({ thread: z.string(), n: z.number() }),
        execute: (call) => effect(call),
      }),
    },
    stopWhen: [full],
  });
  if (finishReason === 'tool-calls') await continueAsNew([...messages, ...responseMessages]);
}
