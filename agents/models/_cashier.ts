/** The cashier without a model: a function of the request alone, as in `_script.ts`. */
import { calls, type RecordedRequest, type ScriptStep } from 'everthread/testing';
import { speak } from './_speech.ts';
import { readTurn, textOf } from './_turn.ts';

/** Undefined for a request of another agent. */
export function followRefund({ messages }: RecordedRequest): ScriptStep | undefined {
  const prompt = textOf(messages.find(({ role }) => role === 'system'));
  if (!prompt.startsWith('You are the cashier')) return undefined;
  const { asked, lastTool } = readTurn(messages);
  if (lastTool?.content.startsWith('Failed')) return speak(`There is no refund. ${lastTool.content}`);
  if (lastTool) return speak(`It is done. ${lastTool.content}`);
  const [booking] = /\b[A-Z]{2}-\d{4}\b/.exec(asked) ?? [];
  const [, euros] = /(\d+(?:\.\d+)?) ?(?:euros?|€)/.exec(asked) ?? [];
  if (!booking || !euros) return speak('Which booking is it, such as LF-2207, and how many euros?');
  return calls('refund_fare', { booking, euros: Number(euros) });
}
