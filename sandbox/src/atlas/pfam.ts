// Pfam families by accession and name: those of the reference proteins, and a library that invented
// founders are assembled from. Only accessions and names are Pfam's; the sequences of library
// domains are invented by the seed.
const NAMES: Readonly<Record<string, string>> = {
  PF00022: 'Actin',
  PF00656: 'Peptidase_C14',
  PF13855: 'LRR_8',
  PF07686: 'V-set',
  PF08205: 'C2-set_2',
  PF06365: 'CD34_antigen',
  PF16681: 'Ig_5',
  PF05790: 'C2-set',
  PF09191: 'CD4-extracel',
  PF12104: 'Tcell_CD4_C',
  PF01299: 'Lamp',
  PF13895: 'Ig_2',
  PF00125: 'Histone',
  PF16208: 'Keratin_2_head',
  PF00038: 'Filament',
  PF04103: 'CD20',
  PF00705: 'PCNA_N',
  PF02747: 'PCNA_C',
  PF01034: 'Syndecan',
  PF00307: 'CH',
  PF00402: 'Calponin',
  PF00907: 'T-box',
  PF00089: 'Trypsin',
  PF00042: 'Globin',
  PF00049: 'Insulin',
  PF13499: 'EF-hand_7',
  PF00034: 'Cytochrom_C',
  PF00240: 'ubiquitin',
  PF00062: 'Lys',
  PF01353: 'GFP',
  PF00071: 'Ras',
};

/** A domain that invented founders carry. */
export interface LibraryDomain {
  readonly pfam: string;
  readonly name: string;
  /** The name of proteins that have it. */
  readonly title: string;
  /** Residues. */
  readonly length: number;
}

const LIBRARY = `
PF08241 Methyltransf_11 95 Class I SAM-dependent methyltransferase
PF00005 ABC_tran 140 ABC transporter ATP-binding protein
PF00072 Response_reg 112 Response regulator
PF02518 HATPase_c 110 Sensor histidine kinase
PF00106 adh_short 190 SDR family oxidoreductase
PF00583 Acetyltransf_1 105 GNAT family N-acetyltransferase
PF00440 TetR_N 47 TetR/AcrR family transcriptional regulator
PF00126 HTH_1 60 LysR family transcriptional regulator
PF03466 LysR_substrate 190 LysR substrate-binding domain-containing protein
PF01381 HTH_3 55 Helix-turn-helix domain-containing protein
PF00535 Glycos_transf_2 160 Glycosyltransferase family 2 protein
PF13424 TPR_12 75 Tetratricopeptide repeat protein
PF00561 Abhydrolase_1 230 Alpha/beta fold hydrolase
PF04055 Radical_SAM 165 Radical SAM protein
PF07690 MFS_1 320 MFS transporter
PF00171 Aldedh 420 Aldehyde dehydrogenase family protein
PF00293 NUDIX 125 NUDIX domain-containing protein
PF01926 MMR_HSR1 115 GTP-binding protein
PF00753 Lactamase_B 180 MBL fold metallo-hydrolase
PF00990 GGDEF 158 Diguanylate cyclase
PF00563 EAL 232 EAL domain-containing protein
PF01609 DDE_Tnp_1 240 Transposase
PF00589 Phage_integrase 170 Tyrosine-type recombinase/integrase
PF00378 ECH_1 240 Enoyl-CoA hydratase/isomerase family protein
PF00107 ADH_zinc_N 130 Zinc-binding dehydrogenase
PF00085 Thioredoxin 102 Thioredoxin family protein
PF00578 AhpC-TSA 124 Peroxiredoxin
PF00248 Aldo_ket_red 280 Aldo/keto reductase
PF00581 Rhodanese 95 Rhodanese-like domain-containing protein
PF02136 NTF2 118 Nuclear transport factor 2 family protein
PF00595 PDZ 80 PDZ domain-containing protein
PF00400 WD40 38 WD repeat-containing protein
PF00069 Pkinase 260 Protein kinase domain-containing protein
PF00018 SH3_1 48 SH3 domain-containing protein
PF00076 RRM_1 70 RNA recognition motif-containing protein
PF00096 zf-C2H2 23 Zinc finger protein
PF00651 BTB 105 BTB domain-containing protein
PF00041 fn3 84 Fibronectin type III domain-containing protein
PF12796 Ank_2 92 Ankyrin repeat domain-containing protein
PF00067 p450 440 Cytochrome P450
`;

/** The library. */
export const LIBRARY_DOMAINS: readonly LibraryDomain[] = LIBRARY.trim()
  .split('\n')
  .map((line) => {
    const [pfam = '', name = '', length, ...title] = line.split(' ');
    return { pfam, name, length: Number(length), title: title.join(' ') };
  });

const LIBRARY_NAMES = new Map(LIBRARY_DOMAINS.map(({ pfam, name }) => [pfam, name]));

/** The short name of a Pfam family; its accession where it has none here. */
export const pfamName = (pfam: string): string => NAMES[pfam] ?? LIBRARY_NAMES.get(pfam) ?? pfam;
