// The organisms that proteins of the universe come from, with their lineages. Facts of the NCBI
// taxonomy, a small hand-picked part.

/** Groups that a family can be spread over. */
export type Clade =
  | 'mammals'
  | 'vertebrates'
  | 'animals'
  | 'cnidarians'
  | 'eukaryotes'
  | 'bacteria'
  | 'proteobacteria'
  | 'archaea'
  | 'prokaryotes'
  | 'viruses'
  | 'life';

/** The ranks of a lineage, widest first. */
export const RANKS = ['superkingdom', 'phylum', 'class', 'order', 'family', 'genus', 'species'] as const;

/** One organism. The lineage has one name for each of RANKS. */
export interface Organism {
  readonly mnemonic: string;
  readonly taxonId: number;
  readonly lineage: readonly string[];
}

const TABLE = `
HUMAN 9606 Eukaryota,Chordata,Mammalia,Primates,Hominidae,Homo,Homo sapiens
PANTR 9598 Eukaryota,Chordata,Mammalia,Primates,Hominidae,Pan,Pan troglodytes
MACMU 9544 Eukaryota,Chordata,Mammalia,Primates,Cercopithecidae,Macaca,Macaca mulatta
MOUSE 10090 Eukaryota,Chordata,Mammalia,Rodentia,Muridae,Mus,Mus musculus
RAT 10116 Eukaryota,Chordata,Mammalia,Rodentia,Muridae,Rattus,Rattus norvegicus
RABIT 9986 Eukaryota,Chordata,Mammalia,Lagomorpha,Leporidae,Oryctolagus,Oryctolagus cuniculus
BOVIN 9913 Eukaryota,Chordata,Mammalia,Artiodactyla,Bovidae,Bos,Bos taurus
PIG 9823 Eukaryota,Chordata,Mammalia,Artiodactyla,Suidae,Sus,Sus scrofa
HORSE 9796 Eukaryota,Chordata,Mammalia,Perissodactyla,Equidae,Equus,Equus caballus
CANLF 9615 Eukaryota,Chordata,Mammalia,Carnivora,Canidae,Canis,Canis lupus
LOXAF 9785 Eukaryota,Chordata,Mammalia,Proboscidea,Elephantidae,Loxodonta,Loxodonta africana
CHICK 9031 Eukaryota,Chordata,Aves,Galliformes,Phasianidae,Gallus,Gallus gallus
XENLA 8355 Eukaryota,Chordata,Amphibia,Anura,Pipidae,Xenopus,Xenopus laevis
DANRE 7955 Eukaryota,Chordata,Actinopteri,Cypriniformes,Danionidae,Danio,Danio rerio
SALSA 8030 Eukaryota,Chordata,Actinopteri,Salmoniformes,Salmonidae,Salmo,Salmo salar
DROME 7227 Eukaryota,Arthropoda,Insecta,Diptera,Drosophilidae,Drosophila,Drosophila melanogaster
APIME 7460 Eukaryota,Arthropoda,Insecta,Hymenoptera,Apidae,Apis,Apis mellifera
CAEEL 6239 Eukaryota,Nematoda,Chromadorea,Rhabditida,Rhabditidae,Caenorhabditis,Caenorhabditis elegans
NEMVE 45351 Eukaryota,Cnidaria,Anthozoa,Actiniaria,Edwardsiidae,Nematostella,Nematostella vectensis
AEQVI 6100 Eukaryota,Cnidaria,Hydrozoa,Leptothecata,Aequoreidae,Aequorea,Aequorea victoria
HYDVU 6087 Eukaryota,Cnidaria,Hydrozoa,Anthoathecata,Hydridae,Hydra,Hydra vulgaris
YEAST 4932 Eukaryota,Ascomycota,Saccharomycetes,Saccharomycetales,Saccharomycetaceae,Saccharomyces,Saccharomyces cerevisiae
NEUCR 5141 Eukaryota,Ascomycota,Sordariomycetes,Sordariales,Sordariaceae,Neurospora,Neurospora crassa
ARATH 3702 Eukaryota,Streptophyta,Magnoliopsida,Brassicales,Brassicaceae,Arabidopsis,Arabidopsis thaliana
ORYSA 4530 Eukaryota,Streptophyta,Magnoliopsida,Poales,Poaceae,Oryza,Oryza sativa
DICDI 44689 Eukaryota,Evosea,Eumycetozoa,Dictyosteliales,Dictyosteliaceae,Dictyostelium,Dictyostelium discoideum
ECOLX 562 Bacteria,Pseudomonadota,Gammaproteobacteria,Enterobacterales,Enterobacteriaceae,Escherichia,Escherichia coli
PSEAI 287 Bacteria,Pseudomonadota,Gammaproteobacteria,Pseudomonadales,Pseudomonadaceae,Pseudomonas,Pseudomonas aeruginosa
RHIME 382 Bacteria,Pseudomonadota,Alphaproteobacteria,Hyphomicrobiales,Rhizobiaceae,Sinorhizobium,Sinorhizobium meliloti
CAUVI 155892 Bacteria,Pseudomonadota,Alphaproteobacteria,Caulobacterales,Caulobacteraceae,Caulobacter,Caulobacter vibrioides
BACIU 1423 Bacteria,Bacillota,Bacilli,Bacillales,Bacillaceae,Bacillus,Bacillus subtilis
CLODI 1496 Bacteria,Bacillota,Clostridia,Peptostreptococcales,Peptostreptococcaceae,Clostridioides,Clostridioides difficile
MYCTX 1773 Bacteria,Actinomycetota,Actinomycetes,Mycobacteriales,Mycobacteriaceae,Mycobacterium,Mycobacterium tuberculosis
STRCH 1902 Bacteria,Actinomycetota,Actinomycetes,Kitasatosporales,Streptomycetaceae,Streptomyces,Streptomyces coelicolor
BACFG 817 Bacteria,Bacteroidota,Bacteroidia,Bacteroidales,Bacteroidaceae,Bacteroides,Bacteroides fragilis
SYNY3 1148 Bacteria,Cyanobacteriota,Cyanophyceae,Synechococcales,Merismopediaceae,Synechocystis,Synechocystis sp.
DEIRA 1299 Bacteria,Deinococcota,Deinococci,Deinococcales,Deinococcaceae,Deinococcus,Deinococcus radiodurans
METJA 2190 Archaea,Methanobacteriota,Methanococci,Methanococcales,Methanocaldococcaceae,Methanocaldococcus,Methanocaldococcus jannaschii
HALSI 2242 Archaea,Methanobacteriota,Halobacteria,Halobacteriales,Halobacteriaceae,Halobacterium,Halobacterium salinarum
SACSO 2287 Archaea,Thermoproteota,Thermoprotei,Sulfolobales,Sulfolobaceae,Saccharolobus,Saccharolobus solfataricus
BPT4 10665 Viruses,Uroviricota,Caudoviricetes,Pantevenvirales,Straboviridae,Tequatrovirus,Tequatrovirus T4
VACCV 10245 Viruses,Nucleocytoviricota,Pokkesviricetes,Chitovirales,Poxviridae,Orthopoxvirus,Vaccinia virus
`;

/** Every organism. */
const ORGANISMS: readonly Organism[] = TABLE.trim()
  .split('\n')
  .map((line) => {
    const [mnemonic = '', taxonId, ...rest] = line.split(' ');
    return { mnemonic, taxonId: Number(taxonId), lineage: rest.join(' ').split(',') };
  });

const within = (...names: string[]) =>
  ORGANISMS.filter(({ lineage }) => lineage.some((name) => names.includes(name)));

/** The organisms of each clade. */
export const CLADES: Readonly<Record<Clade, readonly Organism[]>> = {
  mammals: within('Mammalia'),
  vertebrates: within('Chordata'),
  animals: within('Chordata', 'Arthropoda', 'Nematoda', 'Cnidaria'),
  cnidarians: within('Cnidaria'),
  eukaryotes: within('Eukaryota'),
  bacteria: within('Bacteria'),
  proteobacteria: within('Pseudomonadota'),
  archaea: within('Archaea'),
  prokaryotes: within('Bacteria', 'Archaea'),
  viruses: within('Viruses'),
  life: within('Eukaryota', 'Bacteria', 'Archaea'),
};

/** The organism of that species name, when it is one of ours. */
export const organismNamed = (species: string): Organism | undefined =>
  ORGANISMS.find(({ lineage }) => lineage.at(-1) === species);
