/** What is behind a thread's story, one tab at a time. */
import type { FunctionComponent } from 'preact';
import type { Tab } from '../address.ts';
import { openTab } from '../router.ts';
import { Budget, Effects, Family, Files, GivenAnswers, Values } from './data-tabs.tsx';
import { RawRows } from './raw.tsx';
import { RequestTab } from './request.tsx';
import type { TabProps } from './tab.ts';
import { Timeline } from './timeline.tsx';

const SHOWN: Readonly<Record<Tab, FunctionComponent<TabProps>>> = {
  request: RequestTab,
  timeline: Timeline,
  answers: GivenAnswers,
  budget: Budget,
  family: Family,
  files: Files,
  values: Values,
  effects: Effects,
  raw: RawRows,
};

export function Drawer({ tab, ...given }: TabProps & { readonly tab: Tab }) {
  const Shown = SHOWN[tab];
  return (
    <aside class="drawer" aria-label={tab} data-tab={tab}>
      <header>
        <h2>{tab}</h2>
        <button
          type="button"
          class="quiet"
          aria-label="Close (Escape)"
          onClick={() => openTab(given.reading.threadId, undefined)}
        >
          ✕
        </button>
      </header>
      <Shown {...given} />
    </aside>
  );
}
