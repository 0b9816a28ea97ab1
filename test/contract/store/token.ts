/** Tokens of the HTTP API. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { Stores } from '../store-contract.ts';

export function registerToken(given: () => Stores): void {
  describe('tokens', () => {
    const of = (more: object = {}) => ({
      id: randomUUID(),
      digest: randomUUID(),
      name: 'web',
      scopes: ['read', 'write'],
      userId: 'ada',
      organizationId: null,
      lifeMs: null,
      ...more,
    });

    it('are found by digest from every process until they are revoked', async () => {
      const { store, second } = given();
      const token = of({ organizationId: 'acme' });
      const { digest, lifeMs: _, ...shown } = token;
      const created = await store.tokens.create(token);
      expect(created).toEqual({ ...shown, createdAt: expect.any(Number), expiresAt: null, revokedAt: null });
      expect(await store.tokens.create(token)).toEqual(created);
      expect(await second.tokens.find(digest)).toEqual(created);
      expect(await second.tokens.find(token.id)).toBeNull();
      const revoked = await second.tokens.revoke(token.id);
      expect(revoked).toEqual({ ...created, revokedAt: expect.any(Number) });
      expect(await store.tokens.revoke(token.id)).toEqual(revoked);
      expect(await store.tokens.find(digest)).toBeNull();
      expect(await store.tokens.list()).toContainEqual(revoked);
      expect(await store.tokens.revoke('nowhere')).toBeNull();
    });

    it('expire', async () => {
      const { store } = given();
      const [over, living] = [of({ lifeMs: 0 }), of({ lifeMs: 3_600_000 })];
      await store.tokens.create(over);
      const { createdAt, expiresAt } = await store.tokens.create(living);
      expect((expiresAt as number) - createdAt).toBe(3_600_000_000);
      expect(await store.tokens.find(over.digest)).toBeNull();
      expect(await store.tokens.find(living.digest)).toMatchObject({ id: living.id });
    });
  });
}
