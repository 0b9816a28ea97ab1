/** What the page shows is in its address; a token never is. */
import { describe, expect, it } from '@jest/globals';
import { type Place, parsePlace, takeToken, toFragment } from '../../src/ui/address.ts';

describe('the address of the page', () => {
  it.each<Place>([
    { view: 'threads', filters: {} },
    { view: 'threads', filters: { status: 'waiting', agent: 'a b&c', tag: '#1' } },
    { view: 'thread', threadId: 'a/b?c' },
    { view: 'thread', threadId: 't', tab: 'request', call: '3.1.2' },
    { view: 'tasks' },
    { view: 'task', taskId: 'x y' },
  ])('names %j, and leads back to it', (place) => {
    expect(parsePlace(toFragment(place))).toEqual(place);
  });

  it.each(['', '#', '#/nowhere/x', '#/threads/', '#/threads?color=red', '#/%E0%A4%A'])(
    'leads from %j to the list of threads',
    (fragment) => {
      expect(parsePlace(fragment)).toEqual({ view: 'threads', filters: {} });
    },
  );

  it('ignores a drawer that it does not know', () => {
    expect(parsePlace('#/threads/t/secrets')).toEqual({ view: 'thread', threadId: 't' });
  });

  it.each([
    ['#token=et_1', 'et_1', '#'],
    ['#/threads/t?token=et_1', 'et_1', '#/threads/t'],
    ['#/threads?status=failed&token=et_1', 'et_1', '#/threads?status=failed'],
    ['#/threads?token=et_1&status=failed', 'et_1', '#/threads?status=failed'],
    ['#/threads/t', null, '#/threads/t'],
  ])('loses the token of %j', (fragment, token, rest) => {
    expect(takeToken(fragment)).toEqual({ token, rest });
  });
});
