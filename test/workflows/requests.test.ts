/** Requests to stop and to terminate, as a thread's workflow keeps them until they are settled. */
import { describe, expect, it } from '@jest/globals';
import { Requests } from '../../src/workflows/requests.ts';

describe('requests to stop and terminate', () => {
  it('a stop that arrived while another was being settled is settled next', () => {
    const requests = new Requests();
    requests.requestStop({ reason: 'first' });
    const { stop } = requests;
    requests.requestStop({ reason: 'second' });
    requests.settleStop(stop);
    expect(requests.stop).toEqual({ reason: 'second' });
    requests.settleStop(requests.stop);
    expect(requests.stop).toBeUndefined();
  });

  it('the first reason to terminate counts', () => {
    const requests = new Requests();
    requests.requestTerminate({ reason: 'first' });
    requests.requestTerminate({ reason: 'second' });
    expect(requests.terminate).toEqual({ reason: 'first' });
  });
});
