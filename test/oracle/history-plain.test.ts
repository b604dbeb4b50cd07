import { describeHistory } from './history.ts';

describeHistory('plain');
