/** When an activity's answer is passed on to the effects: the order of commands in a history depends on it. */
import { describe, expect, it } from '@jest/globals';
import type { EffectsDue } from '../../src/core/thread/step.ts';
import { EffectAlarm } from '../../src/workflows/effect-alarm.ts';

interface Answer extends EffectsDue {
  readonly kind: 'done';
}

describe("an activity's answer", () => {
  const alarm = new EffectAlarm();

  it('is passed on right before its caller continues, which waits no longer than others', async () => {
    const order: string[] = [];
    const { promise, resolve } = withResolvers<Answer>();
    alarm.receive = ({ effectsInMs }) => order.push(`heard ${effectsInMs}`);
    const wait = async (name: string, answer: Promise<Answer>) => {
      await answer;
      order.push(name);
    };
    const flows = [
      wait('before', promise),
      wait('caller', alarm.receiveFrom(promise)),
      wait('after', promise),
    ];
    resolve({ kind: 'done', effectsInMs: 5 });
    await Promise.all(flows);
    expect(order).toEqual(['before', 'heard 5', 'caller', 'after']);
  });

  it('that never arrives fails only its caller', async () => {
    const failed = Promise.reject<Answer>(new Error('lost'));
    await expect(alarm.receiveFrom(failed)).rejects.toThrow('lost');
  });
});

function withResolvers<T>() {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
